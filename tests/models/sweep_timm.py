"""Families of timm for the sweep: a small model of each, with few layers and small images."""

from __future__ import annotations

from typing import Any

import torch
from subjects import Inputs, Subject, noise, perturb
from torchvision_operators import declare

_OPERATORS = declare()


def names() -> list[str]:
    """The names of the models."""
    return sorted(_MODELS)


def subject(name: str) -> Subject:
    """A model with small images and three classes."""
    import timm

    torch.manual_seed(0)
    options = dict(_MODELS[name])
    size = options.pop("size", options.get("img_size", 64))
    model = perturb(timm.create_model(name, pretrained=False, num_classes=3, **options))

    def inputs(batch: int, length: int) -> Inputs:
        return {"x": noise(batch, batch, 3, size, size)}

    return Subject(model, inputs)


_ONES = {"depths": (1, 1, 1, 1)}
_FLAT = {"img_size": 64, "embed_dim": 64, "depth": 2, "num_heads": 4}

_MODELS: dict[str, dict[str, Any]] = {
    "beit_base_patch16_224": _FLAT,
    "botnet26t_256": {"img_size": 128},
    "caformer_s18": {},
    "cait_xxs24_224": {**_FLAT, "depth_token_only": 1},
    "coat_tiny": {"img_size": 64, "serial_depths": (1, 1, 1, 1), "parallel_depth": 1},
    "convformer_s18": {},
    "convit_tiny": {**_FLAT, "local_up_to_layer": 1},
    "convmixer_768_32": {},
    "cpubone_nano": {},
    "cs3darknet_s": {},
    "crossvit_tiny_240": {
        "img_size": 96, "img_scale": (1.0, 1.0), "patch_size": (12, 16), "depth": ((1, 1, 0),),
    },
    "csatv2": {"size": 256},
    "cspnext_tiny": {},
    "davit_tiny": {**_ONES, "embed_dims": (16, 32, 64, 64), "num_heads": (1, 2, 4, 4), "size": 224},
    "deepseek_vit_412m": {"embed_dim": 64, "depth": 2, "num_heads": 4, "size": 56},
    "deit_tiny_distilled_patch16_224": {"img_size": 64, "depth": 2},
    "densenet121": {"block_config": (2, 2, 2, 2)},
    "dla46x_c": {},
    "dm_nfnet_f0": {},
    "dpn48b": {},
    "ecaresnet26t": {},
    "eca_nfnet_l0": {},
    "edgenext_xx_small": {},
    "efficientformer_l1": {"size": 224},
    "efficientformerv2_s0": {"img_size": 128},
    "efficientnet_b0": {},
    "efficientvim_m1": {},
    "efficientvit_b0": {},
    "efficientvit_m0": {"img_size": 128},
    "ese_vovnet19b_slim_dw": {},
    "eva02_tiny_patch14_224": {"img_size": 56, "depth": 2},
    "fasternet_t0": {},
    "fastvit_t8": {"layers": (1, 1, 1, 1)},
    "fbnetc_100": {},
    "fbnetv3_b": {},
    "focalnet_tiny_srf": {},
    "gcvit_xxtiny": {"img_size": 224},
    "gemma4_vit_167m": {"embed_dim": 64, "depth": 2, "num_heads": 4, "size": 96},
    "gernet_s": {},
    "ghostnet_050": {},
    "ghostnetv2_100": {},
    "gmlp_ti16_224": {"img_size": 64},
    "halonet26t": {"size": 256},
    "hardcorenas_a": {},
    "hgnet_tiny": {},
    "hgnetv2_b0": {},
    "hiera_tiny_224": {"embed_dim": 32, "stages": (1, 1, 1, 1), "size": 224},
    "hrnet_w18_small": {},
    "iformer_s": {},
    "inception_next_atto": _ONES,
    "inception_resnet_v2": {"size": 96},
    "inception_v3": {"size": 96},
    "inception_v4": {"size": 96},
    "lambda_resnet26t": {"size": 128},
    "lcnet_035": {},
    "lcnetv2_small": {},
    "legacy_seresnet18": {},
    "legacy_xception": {},
    "levit_128s": {"img_size": 224},
    "lowformer_b0": {},
    "mambaout_femto": {},
    "maxvit_rmlp_pico_rw_256": {"img_size": 128},
    "mixer_s32_224": {"img_size": 64},
    "mixnet_s": {},
    "mnasnet_small": {},
    "mobilenetv2_035": {},
    "mobilenetv3_small_050": {},
    "mobilenetv5_base": {"size": 128},
    "mobileone_s0": {},
    "mobilevit_xxs": {},
    "mobilevitv2_050": {},
    "mvitv2_tiny": {"img_size": 64},
    "naflexvit_base_patch16_gap": {"embed_dim": 64, "depth": 2, "num_heads": 4},
    "nasnetalarge": {"size": 96},
    "nest_tiny": {"img_size": 128},
    "nextvit_small": {},
    "nf_regnet_b0": {},
    "pit_ti_224": {"img_size": 64, "depth": (1, 1, 1)},
    "pnasnet5large": {"size": 96},
    "poolformer_s12": {},
    "pvt_v2_b0": _ONES,
    "qwen3_vit_88m": {"embed_dim": 64, "depth": 2, "num_heads": 4, "size": 64},
    "rdnet_tiny": {},
    "regnetx_002": {},
    "regnety_002": {},
    "regnetz_005": {},
    "repghostnet_050": {},
    "repvgg_a0": {},
    "repvit_m0_9": {},
    "res2net50_14w_8s": {"layers": [1, 1, 1, 1]},
    "resmlp_12_224": {"img_size": 64},
    "resnest14d": {},
    "resnet10t": {},
    "resnetv2_18": {},
    "resnext26ts": {},
    "rexnet_100": {},
    "samvit_base_patch16": {**_FLAT, "global_attn_indexes": (1,)},
    "selecsls42": {},
    "semnasnet_050": {},
    "sequencer2d_s": {"layers": [1, 1, 1, 1], "size": 64},
    "shvit_s1": {},
    "skresnet18": {},
    "spnasnet_100": {},
    "starnet_s050": {},
    "swiftformer_xs": {"img_size": 64},
    "swin_tiny_patch4_window7_224": {**_ONES, "img_size": 56, "embed_dim": 24},
    "swinv2_cr_tiny_224": {**_ONES, "img_size": 64, "embed_dim": 24},
    "swinv2_tiny_window8_256": {**_ONES, "img_size": 64, "embed_dim": 24},
    "sam2_hiera_tiny": {"size": 128},
    "test_byobnet": {},
    "test_coatnet": {"img_size": 160},
    "test_vit": {"img_size": 64},
    "tiny_vit_5m_224": {"depths": (1, 1, 1, 1), "size": 128},
    "tinynet_e": {},
    "tnt_s_patch16_224": {"img_size": 64, "depth": 2},
    "tresnet_m": {"layers": [1, 1, 1, 1]},
    "twins_svt_small": {**_ONES, "img_size": 224, "embed_dims": (16, 32, 64, 64)},
    "vgg11_bn": {},
    "visformer_tiny": {"img_size": 64},
    "vit_relpos_small_patch16_224": {"img_size": 64, "depth": 2},
    "vit_tiny_r_s16_p8_224": {"img_size": 64, "depth": 2},
    "vitamin_small_224": {"img_size": 64},
    "volo_d1_224": {"img_size": 64},
    "xception41p": {},
    "xcit_nano_12_p8_224": {"img_size": 64, "depth": 2},
}  # fmt: skip
"""By the name of a model: arguments that make it smaller, and the size of its images."""
