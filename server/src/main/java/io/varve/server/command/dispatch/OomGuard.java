package io.varve.server.command.dispatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.server.command.CommandContext;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * Ensures that maxmemory has space for a command's writes and its reply. Confined to its event loop. Space is always
 * freed before the command runs, or runs again, because nothing is evicted while it uses items. Between the commands
 * of a script nothing is in use, so space is freed under the locks of the script.
 *
 * <p>The command's keys are pinned before memory is freed and until it ends ({@link CommandPins}): no thread
 * evicts them.
 */
final class OomGuard {
    /** Maximum overhead of an item beside its key and value: header, index slot, expiry, capacity. */
    private static final int ITEM_OVERHEAD_BYTES = 128;
    /** Approximate size of an item's header and key. */
    private static final int HEADER_BYTES = 32;
    /** Shorter items leave less unused at the end of a segment than their overhead allows for. */
    private static final int MIN_UNEVEN_BYTES = 512;
    /** Reply space reserved before a command runs; enough for most writing commands. */
    private static final int MIN_REPLY_BYTES = 512;
    /** Memory for the commands of a script. */
    private static final long SCRIPT_BYTES = 64 << 10;
    /** Bounds for the memory freed for a refused command: this multiple of the refused size, or this many bytes. */
    private static final int MAX_GROWTH_FACTOR = 4;
    private static final long MAX_FREED_BYTES = 64 << 20;
    /** Minimum memory freed for a longer reply that ran out of memory; twice the written size if that is more. */
    private static final long MIN_FREED_BYTES = 1 << 20;
    /** Quarters of maxmemory that one command, or one reply, may have evicted. */
    private static final int MAX_QUARTERS = 3;
    /** Divisor of maxmemory above which the unevictable memory is measured first. */
    private static final int MUCH_PART = 16;

    private final Cache cache;
    private final CacheSession session;
    private final CommandTimes times;
    private final CommandPins pins;
    /** Whether the memory for a script's command or its transaction was not available. */
    private boolean isFullForScript;

    OomGuard(Cache cache, CacheSession session, CommandTimes times) {
        this.cache = cache;
        this.session = session;
        this.times = times;
        pins = new CommandPins(session);
    }

    /** The keys that eviction must not remove. */
    CommandPins pins() {
        return pins;
    }

    /**
     * Ensures space for a short reply.
     *
     * @throws NoBufferException if no memory can be freed
     */
    void reserve(Batch batch, int command, Client client, ReplyWriter reply) {
        try {
            reply.reserve(MIN_REPLY_BYTES);
        } catch (NoBufferException none) {
            times.timeSeparately(batch, command, client, session.now());
            pins.pin(batch, command, client);
            if (!cache.admit(MIN_FREED_BYTES)) {
                throw none;
            }
            reply.reserve(MIN_REPLY_BYTES);
        }
    }

    /**
     * Frees twice the memory that a reply needed before it failed. The caller holds none of the locks under which the
     * reply was written. The doubling bounds the number of retries of a long reply.
     */
    boolean reserveForReply(NoBufferException none, long needed) {
        long max = maxBytes();
        long wanted = Math.min(max, Math.max(MIN_FREED_BYTES, 2 * needed));
        return none.isRecoverable() && needed <= max && (admit(wanted) || wanted > needed && admit(needed));
    }

    private long maxBytes() {
        return cache.config().maxMemoryBytes() / 4 * MAX_QUARTERS;
    }

    /**
     * The size to free for a command that was refused memory and runs again. The refused size may be only a part of
     * what it needs: it has returned everything it held, and will allocate it again. So the size doubles with each
     * attempt, within bounds, because the refusal may have another reason.
     *
     * @param requested size freed for it by the previous attempt, bytes
     */
    long nextReservation(long requested, CacheFullException full) {
        long max = Math.min(maxBytes(), Math.max(MAX_FREED_BYTES, MAX_GROWTH_FACTOR * full.bytes()));
        return Math.max(full.bytes(), Math.min(max, 2 * requested));
    }

    /**
     * Whether memory is available for all writes of the commands in a batch: most batches need only this check.
     *
     * @param next number of the first command
     */
    boolean fitsBatch(Batch batch, int next) {
        return !batch.hasRuns() && cache.hasFreeMemory(batch.argumentBytes(next)
                + ITEM_OVERHEAD_BYTES * (batch.commandCount() - next + (long) batch.keyTotal()));
    }

    /**
     * Frees memory for the writes of a command if needed.
     *
     * @param refused size that an earlier attempt was refused, bytes
     * @return whether the memory is available
     */
    boolean admit(Batch batch, int command, Client client, long refused) {
        long bytes = neededBytes(batch, command) + refused;
        if (cache.hasFreeMemory(bytes)) {
            return true;
        }
        times.timeSeparately(batch, command, client, session.now());
        pins.pin(batch, command, client);
        return admit(bytes);
    }

    /**
     * Frees memory for a command that runs again.
     *
     * @param requested size to free, bytes, if possible
     * @param needed size that the command was refused, bytes: the minimum
     */
    boolean admitAgain(Batch batch, int command, Client client, long requested, long needed) {
        return admit(batch, command, client, requested) || requested > needed && admit(batch, command, client, needed);
    }

    /** Frees memory for a transaction that EXEC is to run. */
    boolean admit(Transaction queued, Client client, long refused) {
        long bytes = queued.neededBytes() + refused;
        isFullForScript = false;
        if (cache.hasFreeMemory(bytes)) {
            return true;
        }
        pins.pin(queued, client);
        isFullForScript = !admit(bytes);
        return !isFullForScript;
    }

    /** Frees memory for the first commands of a script: what they will write is not known. */
    void admitScript(Batch batch, int command, Client client) {
        isFullForScript = !admit(batch, command, client, SCRIPT_BYTES);
    }

    /**
     * Frees memory for a command that a script calls, under the locks of the script. It frees some for the next ones
     * too, if possible.
     *
     * @param requested size to free beside what the arguments show, bytes, if possible
     * @param needed the minimum of it
     */
    boolean admitInScript(CommandContext script, Batch nested, long requested, long needed) {
        long bytes = neededBytes(nested, 0);
        if (cache.hasFreeMemory(bytes + requested)) {
            return true;
        }
        pins.pinInScript(script, nested);
        return cache.admitUnderLocks(bytes + requested + SCRIPT_BYTES) || cache.admitUnderLocks(bytes + requested)
                || requested > needed && cache.admitUnderLocks(bytes + needed);
    }

    /**
     * As {@link #reserveForReply}, under the locks of a script: for the reply of a command that it calls, or for its
     * own.
     *
     * @param nested the command; null for the script's own reply
     */
    boolean reserveInScript(CommandContext script, @Nullable Batch nested, NoBufferException none, long needed) {
        long max = maxBytes();
        if (!none.isRecoverable() || needed > max) {
            return false;
        }
        pins.pinInScript(script, nested);
        long wanted = Math.min(max, Math.max(MIN_FREED_BYTES, 2 * needed));
        return cache.admitUnderLocks(wanted) || wanted > needed && cache.admitUnderLocks(needed);
    }

    /** Whether the last script or transaction was given no memory: its commands must not take any. */
    boolean isFullForScript() {
        return isFullForScript;
    }

    /** Frees memory without the pinned keys. Evicts nothing if the size cannot be reached. */
    private boolean admit(long bytes) {
        boolean isMuch = bytes > cache.config().maxMemoryBytes() / MUCH_PART;
        return isMuch ? cache.admit(bytes, pins.bytes()) : cache.admit(bytes);
    }

    /** Pins the command's keys if queueing it may have to free memory. */
    void pinForQueueing(Batch batch, int command, Client client) {
        if (!cache.hasFreeMemory(Transaction.BLOCK_BYTES + neededBytes(batch, command))) {
            pins.pin(batch, command, client);
        }
    }

    /**
     * Frees memory for a message that ran out of memory.
     *
     * @throws NoBufferException {@code none}, if no memory can be freed
     */
    void reserveForMessage(NoBufferException none) {
        if (!none.isRecoverable() || !cache.admit(Math.max(MIN_FREED_BYTES, 2 * none.bytes()))) {
            throw none;
        }
    }

    /**
     * Whether a command that ran out of memory may be retried after memory was freed. A growing value needs more than
     * the arguments show, including what is copied. A retry is safe if the command is read-only, has one key, or is
     * declared all-or-nothing, and if it took no run over.
     */
    boolean canRetry(Batch batch, int command, CommandSpec spec) {
        if (spec.isWrite() && batch.keyCount(command) != 1 && !spec.has(CommandTrait.ALL_OR_NOTHING)) {
            return false;
        }
        int first = batch.firstArgument(command);
        for (int i = first; i < first + batch.argumentCount(command); i++) {
            if (batch.length(i) > cache.runThresholdBytes() && !batch.hasRun(i)) {
                return false;
            }
        }
        return true;
    }

    /** Upper bound of what a command may write, estimated from its arguments, bytes. */
    long neededBytes(Batch batch, int command) {
        int first = batch.firstArgument(command);
        int count = batch.argumentCount(command);
        long bytes = ITEM_OVERHEAD_BYTES * (1L + batch.keyCount(command));
        int headroom = batch.hasRuns() ? headroomForKeys(batch, command) : 0;
        for (int i = first; i < first + count; i++) {
            // A run was charged when it was opened; one that cannot become an item in place is copied.
            bytes += batch.hasRun(i) && batch.headroom(i) >= headroom ? 0 : footprintBytes(batch.length(i));
        }
        return bytes;
    }

    /** The bytes that an argument takes as an item; the overhead of a small one is added separately. */
    private long footprintBytes(int length) {
        return length < MIN_UNEVEN_BYTES ? length : cache.footprintBytes(length + (long) HEADER_BYTES);
    }

    private int headroomForKeys(Batch batch, int command) {
        int longest = 0;
        int first = batch.firstKey(command);
        for (int i = first; i < first + batch.keyCount(command); i++) {
            longest = Math.max(longest, batch.key(i).length());
        }
        return session.headroom(longest);
    }
}
