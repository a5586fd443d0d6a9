"""The fork-join of a parallel loop, as a template of LLVM IR, which `pool_code` fills in."""

FORK_JOIN = """
; Let the worker on this processor, where the caller is now, go where the caller was before. Both
; would take turns otherwise, for a worker stays on its processor. It stays there, too, where the
; caller was on a processor beyond the mask, or one that the process may not use any more.

define internal void @make_room(i32 %processor) nounwind noinline {{
entry:
  %mask = alloca [{mask_bytes} x i8], align 8
  %before = load i32, ptr {home}
  store i32 %processor, ptr {home}
  %workers = load i32, ptr {workers}
  %here = add i32 %processor, 1
  %fits = icmp ult i32 %before, {max_processors}
  br i1 %fits, label %head, label %done
head:
  %slot = phi i32 [ 0, %entry ], [ %next, %compare ]
  %next = add i32 %slot, 1
  %more = icmp ult i32 %slot, %workers
  br i1 %more, label %compare, label %done
compare:
  %position = zext i32 %next to i64
  %place = getelementptr i32, ptr {places}, i64 %position
  %known = load i32, ptr %place
  %found = icmp eq i32 %known, %here
  br i1 %found, label %move, label %head
move:
  call void @llvm.memset.p0.i64(ptr %mask, i8 0, i64 {mask_bytes}, i1 false)
  %number = zext i32 %before to i64
  %byte = lshr i64 %number, 3
  %bit = and i32 %before, 7
  %wide = shl i32 1, %bit
  %value = trunc i32 %wide to i8
  %target = getelementptr i8, ptr %mask, i64 %byte
  store i8 %value, ptr %target
  %thread_word = getelementptr i32, ptr {thread_ids}, i64 %position
  %thread = load i32, ptr %thread_word
  %set = load ptr, ptr {set_affinity}
  %failed = call i32 %set(i32 %thread, i64 {mask_bytes}, ptr %mask)
  %is_there = icmp eq i32 %failed, 0
  br i1 %is_there, label %note, label %done
note:
  %moved = add i32 %before, 1
  store i32 %moved, ptr %place
  br label %done
done:
  ret void
}}

; Whether as many workers as a loop may have look for work; those whom none invites sleep.

define internal i1 @are_awake(i64 %active) nounwind {{
  %workers = load i32, ptr {workers}
  %sleepers = load atomic i32, ptr {sleepers} monotonic, align 4
  %rest = sub i32 %workers, %sleepers
  %hands = sext i32 %rest to i64
  %threads = add i64 %hands, 1
  %enough = icmp sge i64 %threads, %active
  ret i1 %enough
}}

; Run a loop over [begin, end), of which an iteration takes `cost` thousandths of a cycle, on the
; caller and on workers below `slots`. Few grains are a power of two, so that threads share them
; evenly.

define i32 @{entry}(ptr %ctx, ptr %body, ptr %env, i64 %begin, i64 %end, i64 %cost,
                    i64 %slots) nounwind {{
entry:
  %count = sub i64 %end, %begin
  %empty = icmp sle i64 %count, 0
  br i1 %empty, label %nothing, label %measure
nothing:
  ret i32 0
measure:
  %positive = call i64 @llvm.smax.i64(i64 %cost, i64 1)
  %each = call i64 @llvm.smin.i64(i64 %positive, i64 1125899906842624)
  %raised = add i64 %each, {grain_rest}
  %least = udiv i64 %raised, %each
  %whole = udiv i64 %count, %least
  %most = call i64 @llvm.smax.i64(i64 %whole, i64 1)
  %zeros = call i64 @llvm.ctlz.i64(i64 %most, i1 true)
  %shift = sub i64 63, %zeros
  %power = shl i64 1, %shift
  %long_each = icmp eq i64 %least, 1
  %many_grains = icmp uge i64 %most, {few_grains}
  %exact = or i1 %long_each, %many_grains
  %ask = select i1 %exact, i64 %most, i64 %power
  %grains = call i64 @llvm.umin.i64(i64 %ask, i64 {most_grains})
  %share = udiv i64 %count, %grains
  %many = icmp ugt i64 %share, 64
  %unit = select i1 %many, i64 64, i64 1
  %single = icmp eq i64 %grains, 1
  br i1 %single, label %direct, label %choose
direct:
  %all = call i32 %body(ptr %ctx, ptr %env, i64 0, i64 %begin, i64 %end)
  ret i32 %all
choose:
  %known = load atomic i32, ptr {threads} monotonic, align 4
  %threads = zext i32 %known to i64
  %active = call i64 @llvm.umin.i64(i64 %threads, i64 %slots)
  %awake = call i1 @are_awake(i64 %active)
  %worth = select i1 %awake, i64 {awake_cost}, i64 {serial_cost}
  %few = udiv i64 %worth, %each
  %small = icmp ule i64 %count, %few
  %single_thread = icmp ule i64 %active, 1
  %alone = or i1 %small, %single_thread
  br i1 %alone, label %serial, label %take
take:
  %pair = cmpxchg ptr {busy}, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %staff, label %serial
serial:
  %found = call i32 @run_grains(ptr %ctx, ptr %body, ptr %env, i64 0, i64 %begin, i64 %end,
                                i64 %unit, i64 %grains, i64 0, i64 %grains)
  ret i32 %found
staff:
  %hired = load i32, ptr {workers}
  %hands = zext i32 %hired to i64
  %wanted = sub i64 %active, 1
  %missing = icmp ult i64 %hands, %wanted
  br i1 %missing, label %hire, label %publish
hire:
  %start = load ptr, ptr {start}
  call void %start(i64 %wanted)
  br label %publish
publish:
  %get = load ptr, ptr {get_processor}
  %has_places = icmp ne ptr %get, null
  br i1 %has_places, label %locate, label %describe
locate:
  %processor = call i32 %get()
  %home = load i32, ptr {home}
  %stays = icmp eq i32 %processor, %home
  br i1 %stays, label %describe, label %move
move:
  call void @make_room(i32 %processor)
  br label %describe
describe:
  %enough = udiv i64 {long_cost}, %each
  %long = icmp ugt i64 %count, %enough
  %per_thread = select i1 %long, i64 {chunks_per_thread}, i64 1
  %ideal = mul i64 %active, %per_thread
  %fits = udiv i64 %grains, %ideal
  %length = call i64 @llvm.smax.i64(i64 %fits, i64 1)
  %group = mul i64 %length, %active
  %beyond = add i64 %grains, %group
  %last_group = sub i64 %beyond, 1
  %groups = udiv i64 %last_group, %group
  %even = mul i64 %groups, %active
  %chunks = call i64 @llvm.umin.i64(i64 %even, i64 %grains)
  store ptr %body, ptr {body}
  store ptr %env, ptr {env}
  store i64 %begin, ptr {begin}
  store i64 %end, ptr {end}
  store i64 %unit, ptr {unit}
  store i64 %grains, ptr {grains}
  store i64 %chunks, ptr {chunks}
  store i64 %active, ptr {active}
  %taken_bytes = shl i64 %active, 2
  call void @llvm.memset.p0.i64(ptr {taken}, i8 0, i64 %taken_bytes, i1 false)
  store i32 0, ptr {status}
  store atomic i64 -1, ptr {failed} monotonic, align 8
  {get_float_state}
  %pending = trunc i64 %chunks to i32
  store atomic i32 %pending, ptr {pending} seq_cst, align 4
  %old = load atomic i64, ptr {ticket} monotonic, align 8
  %epoch = lshr i64 %old, 32
  %next_epoch = add i64 %epoch, 1
  %high = shl i64 %next_epoch, 32
  %middle = shl i64 %active, 20
  %part = or i64 %high, %middle
  %ticket = or i64 %part, %chunks
  store atomic i64 %ticket, ptr {ticket} seq_cst, align 8
  %sleepers = load atomic i32, ptr {sleepers} seq_cst, align 4
  %asleep = icmp ne i32 %sleepers, 0
  br i1 %asleep, label %wake, label %join
wake:
  %woken = atomicrmw add ptr {wake}, i32 1 seq_cst
  %staffed = load i32, ptr {workers}
  %present = zext i32 %staffed to i64
  %surplus = icmp uge i64 %present, %active
  %useful = sub i64 %chunks, 1
  %guests = select i1 %surplus, i64 2147483647, i64 %useful
  call void @rouse(ptr {wake}, i64 %guests)
  br label %join
join:
  call void @run_chunks(i64 0)
  br label %look
look:
  %turns = phi i64 [ 0, %join ], [ %more, %again ]
  %left = load atomic i32, ptr {pending} seq_cst, align 4
  %done = icmp eq i32 %left, 0
  br i1 %done, label %finish, label %spin
spin:
  %more = add i64 %turns, 1
  %tired = icmp uge i64 %more, {spins}
  br i1 %tired, label %park, label %again
again:
  {pause}
  br label %look
park:
  store atomic i32 1, ptr {waiting} seq_cst, align 4
  br label %check
check:
  %still = load atomic i32, ptr {pending} seq_cst, align 4
  %over = icmp eq i32 %still, 0
  br i1 %over, label %rise, label %rest_now
rest_now:
  call void @sleep(ptr {pending}, i32 %still)
  br label %check
rise:
  store atomic i32 0, ptr {waiting} seq_cst, align 4
  br label %finish
finish:
  %status = load i32, ptr {status}
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %fail, label %leave
fail:
  %target = getelementptr inbounds i8, ptr %ctx, i64 {report_offset}
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr {report}, i64 {report_bytes}, i1 false)
  br label %leave
leave:
  store atomic i32 0, ptr {busy} release, align 4
  ret i32 %status
}}
"""
