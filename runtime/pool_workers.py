"""The workers of the thread pool, as a template of LLVM IR, which `pool_code` fills in."""

WORKERS = """
{declarations}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

@{pool} = dso_local global [{size} x i8] zeroinitializer, align 64

; Sleep while a word has a value, or wake those who do.

define internal void @sleep(ptr %word, i32 %expected) nounwind noinline {{
  %value = zext i32 %expected to i64
  {sleep}
  ret void
}}

define internal void @rouse(ptr %word, i64 %count) nounwind noinline {{
  {rouse}
  ret void
}}

; The start of a grain. Grains differ by at most one unit; the last unit may be smaller.

define internal i64 @start_of(i64 %index, i64 %begin, i64 %end, i64 %unit, i64 %grains) nounwind {{
  %count = sub i64 %end, %begin
  %above = add i64 %count, %unit
  %last = sub i64 %above, 1
  %units = udiv i64 %last, %unit
  %product = mul i64 %units, %index
  %position = udiv i64 %product, %grains
  %offset = mul i64 %position, %unit
  %start = add i64 %begin, %offset
  %inside = call i64 @llvm.smin.i64(i64 %start, i64 %end)
  ret i64 %inside
}}

; Run the grains [first, last) of a loop, until one fails.

define internal i32 @run_grains(ptr %ctx, ptr %body, ptr %env, i64 %slot, i64 %begin, i64 %end,
                                i64 %unit, i64 %grains, i64 %first, i64 %last) nounwind {{
entry:
  %start = call i64 @start_of(i64 %first, i64 %begin, i64 %end, i64 %unit, i64 %grains)
  br label %head
head:
  %index = phi i64 [ %first, %entry ], [ %following, %next ]
  %from = phi i64 [ %start, %entry ], [ %to, %next ]
  %more = icmp slt i64 %index, %last
  br i1 %more, label %run, label %done
run:
  %following = add i64 %index, 1
  %to = call i64 @start_of(i64 %following, i64 %begin, i64 %end, i64 %unit, i64 %grains)
  %status = call i32 %body(ptr %ctx, ptr %env, i64 %slot, i64 %from, i64 %to)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %fail, label %next
next:
  br label %head
fail:
  ret i32 %status
done:
  ret i32 0
}}

; Keep the report of a failed chunk, unless one before it has failed too.

define internal void @report(i64 %index, i32 %status, ptr %ctx) nounwind noinline {{
entry:
  br label %lock
lock:
  %pair = cmpxchg ptr {lock}, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %compare, label %wait
wait:
  {pause}
  br label %lock
compare:
  %before = load atomic i64, ptr {failed} monotonic, align 8
  %first = icmp ult i64 %index, %before
  br i1 %first, label %keep, label %unlock
keep:
  store atomic i64 %index, ptr {failed} monotonic, align 8
  store i32 %status, ptr {status}
  %source = getelementptr inbounds i8, ptr %ctx, i64 {report_offset}
  call void @llvm.memcpy.p0.p0.i64(ptr {report}, ptr %source, i64 {report_bytes}, i1 false)
  br label %unlock
unlock:
  store atomic i32 0, ptr {lock} release, align 4
  ret void
}}

; Run a chunk that was claimed. One after a failed chunk would not have run in a serial loop.

define internal void @run_chunk(i64 %slot, i64 %index) nounwind {{
entry:
  %words = alloca [{context_words} x i64], align 64
  %failed = load atomic i64, ptr {failed} monotonic, align 8
  %skipped = icmp ult i64 %failed, %index
  br i1 %skipped, label %done, label %run
run:
  %body = load ptr, ptr {body}
  %env = load ptr, ptr {env}
  %begin = load i64, ptr {begin}
  %end = load i64, ptr {end}
  %unit = load i64, ptr {unit}
  %grains = load i64, ptr {grains}
  %chunks = load i64, ptr {chunks}
  %next = add i64 %index, 1
  %low = mul i64 %index, %grains
  %high = mul i64 %next, %grains
  %first = udiv i64 %low, %chunks
  %last = udiv i64 %high, %chunks
  %status = call i32 @run_grains(ptr %words, ptr %body, ptr %env, i64 %slot, i64 %begin, i64 %end,
                                 i64 %unit, i64 %grains, i64 %first, i64 %last)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %fail, label %done
fail:
  call void @report(i64 %index, i32 %status, ptr %words)
  br label %done
done:
  ret void
}}

; Whether the thread of a slot finds a chunk to claim in a ticket.

define internal i1 @has_work(i64 %ticket, i64 %slot) nounwind {{
  %left = and i64 %ticket, 1048575
  %some = icmp ne i64 %left, 0
  %high = lshr i64 %ticket, 20
  %slots = and i64 %high, 4095
  %invited = icmp ult i64 %slot, %slots
  %both = and i1 %some, %invited
  ret i1 %both
}}

; The next chunk of a slot's own, or of the first slot after it that has any left. There is one, for
; as many threads are here at a time as chunks are claimed and not taken.

define internal i64 @take(i64 %slot) nounwind {{
entry:
  %chunks = load i64, ptr {chunks}
  %active = load i64, ptr {active}
  br label %look
look:
  %owner = phi i64 [ %slot, %entry ], [ %other, %move_on ]
  %next = add i64 %owner, 1
  %low = mul i64 %owner, %chunks
  %high = mul i64 %next, %chunks
  %first = udiv i64 %low, %active
  %end = udiv i64 %high, %active
  %place = getelementptr i32, ptr {taken}, i64 %owner
  %before = atomicrmw add ptr %place, i32 1 monotonic
  %offset = zext i32 %before to i64
  %index = add i64 %first, %offset
  %found = icmp ult i64 %index, %end
  br i1 %found, label %done, label %move_on
move_on:
  %beyond = icmp eq i64 %next, %active
  %other = select i1 %beyond, i64 0, i64 %next
  br label %look
done:
  ret i64 %index
}}

; Claim and run chunks while there are any.

define internal void @run_chunks(i64 %slot) nounwind {{
entry:
  br label %look
look:
  %ticket = load atomic i64, ptr {ticket} seq_cst, align 8
  br label %try
try:
  %seen = phi i64 [ %ticket, %look ], [ %newer, %claim ]
  %useful = call i1 @has_work(i64 %seen, i64 %slot)
  br i1 %useful, label %claim, label %done
claim:
  %lower = sub i64 %seen, 1
  %pair = cmpxchg ptr {ticket}, i64 %seen, i64 %lower seq_cst seq_cst
  %newer = extractvalue {{ i64, i1 }} %pair, 0
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %run, label %try
run:
  %stranger = icmp ne i64 %slot, 0
  br i1 %stranger, label %adopt, label %chunk
adopt:
  {set_float_state}
  br label %chunk
chunk:
  %index = call i64 @take(i64 %slot)
  call void @run_chunk(i64 %slot, i64 %index)
  %pending = atomicrmw sub ptr {pending}, i32 1 seq_cst
  %last = icmp eq i32 %pending, 1
  br i1 %last, label %tell, label %look
tell:
  %waiting = load atomic i32, ptr {waiting} seq_cst, align 4
  %asleep = icmp ne i32 %waiting, 0
  br i1 %asleep, label %wake, label %look
wake:
  call void @rouse(ptr {pending}, i64 1)
  br label %look
done:
  ret void
}}

; What a worker does until the process ends: run chunks, look for more for a while, sleep.

define void @{worker_loop}(i64 %slot) nounwind {{
entry:
  br label %run
run:
  call void @run_chunks(i64 %slot)
  br label %look
look:
  %count = phi i64 [ 0, %run ], [ %more, %again ]
  %ticket = load atomic i64, ptr {ticket} seq_cst, align 8
  %useful = call i1 @has_work(i64 %ticket, i64 %slot)
  br i1 %useful, label %run, label %spin
spin:
  %more = add i64 %count, 1
  %tired = icmp uge i64 %more, {spins}
  br i1 %tired, label %park, label %again
again:
  {pause}
  br label %look
park:
  %wake = load atomic i32, ptr {wake} seq_cst, align 4
  %before = atomicrmw add ptr {sleepers}, i32 1 seq_cst
  %late = load atomic i64, ptr {ticket} seq_cst, align 8
  %needed = call i1 @has_work(i64 %late, i64 %slot)
  br i1 %needed, label %rise, label %rest
rest:
  call void @sleep(ptr {wake}, i32 %wake)
  br label %rise
rise:
  %after = atomicrmw sub ptr {sleepers}, i32 1 seq_cst
  br label %run
}}
"""
