package io.varve.server.command.dispatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.server.command.Batch;
import io.varve.server.command.Client;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.Transaction;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;

/**
 * Whether maxmemory has room for what a command may write and for its reply, and how it is made: always before the command runs, or
 * runs again, because nothing is evicted under its locks. Confined to its event loop.
 *
 * <p>The command's keys are pinned before room is made and until it ends ({@link CommandPins}): eviction spares them, on every thread.
 */
final class CommandRoom {
    /** What an item takes beside its key and value at most: header, index slot, expiry, capacity. */
    private static final int ITEM_OVERHEAD_BYTES = 128;
    /** Of an item's header and key, nearly. */
    private static final int HEADER_BYTES = 32;
    /** Shorter items leave less unused at the end of a segment than their overhead allows for. */
    private static final int LEAST_UNEVEN_BYTES = 512;
    /** There is room for a reply of this size before a command runs: those of most commands that change something. */
    private static final int LEAST_REPLY_BYTES = 512;
    /** What a command was refused may be this part of all that it needs, or that may be so much. */
    private static final int MOST_TIMES = 4;
    private static final long MOST_ROOM_BYTES = 64 << 20;
    /** For a longer reply that finds no room so much is made at least, and twice what was written of it. */
    private static final long LEAST_ROOM_BYTES = 1 << 20;
    /** The part of maxmemory that one command, or one reply, may have others evicted for, in quarters. */
    private static final int MOST_QUARTERS = 3;
    /** From this part of maxmemory on it is worth knowing how much cannot be evicted. */
    private static final int MUCH_PART = 16;

    private final Cache cache;
    private final CacheSession session;
    private final CommandTimes times;
    private final CommandPins pins;

    CommandRoom(Cache cache, CacheSession session, CommandTimes times) {
        this.cache = cache;
        this.session = session;
        this.times = times;
        pins = new CommandPins(session);
    }

    /** The keys that are spared while room is made. */
    CommandPins pins() {
        return pins;
    }

    /**
     * There is room for a short reply from here on.
     *
     * @throws NoBufferException if none can be made
     */
    void reserve(Batch batch, int command, Client client, ReplyWriter reply) {
        try {
            reply.reserve(LEAST_REPLY_BYTES);
        } catch (NoBufferException none) {
            times.aside(batch, command, client, session.now());
            pins.pin(batch, command, client);
            if (!cache.admit(LEAST_ROOM_BYTES)) {
                throw none;
            }
            reply.reserve(LEAST_REPLY_BYTES);
        }
    }

    /**
     * Makes twice the room that a reply has needed until there was none, without the locks under which it was written: so
     * a long one is written a few times at most.
     */
    boolean makeForReply(NoBufferException none, long needed) {
        long most = mostBytes();
        long wanted = Math.min(most, Math.max(LEAST_ROOM_BYTES, 2 * needed));
        return none.roomHelps() && needed <= most && (admit(wanted) || wanted > needed && admit(needed));
    }

    private long mostBytes() {
        return cache.config().maxMemoryBytes() / 4 * MOST_QUARTERS;
    }

    /**
     * How much room is to be made for a command that was refused memory and runs again. What it was refused may be a part of what it
     * needs: what it held by then, it has given back, and will take again. So each time it is twice as much, within bounds: it may be refused
     * for another reason.
     *
     * @param asked what was made for it before, bytes
     */
    long toAskFor(long asked, CacheFullException full) {
        long most = Math.min(mostBytes(), Math.max(MOST_ROOM_BYTES, MOST_TIMES * full.bytes()));
        return Math.max(full.bytes(), Math.min(most, 2 * asked));
    }

    /**
     * Whether there is ample room for all that the commands of a batch may write: most batches are asked once.
     *
     * @param next number of the first of them
     */
    boolean isThereFor(Batch batch, int next) {
        return !batch.hasRuns() && cache.hasRoom(batch.argumentBytes(next)
                + ITEM_OVERHEAD_BYTES * (batch.commandCount() - next + (long) batch.keyTotal()));
    }

    /**
     * Whether there is room for what the command may write.
     *
     * @param refused what it found no room for when it was run, bytes
     */
    boolean admit(Batch batch, int command, Client client, long refused) {
        long bytes = neededBytes(batch, command) + refused;
        if (cache.hasRoom(bytes)) {
            return true;
        }
        times.aside(batch, command, client, session.now());
        pins.pin(batch, command, client);
        return admit(bytes);
    }

    /**
     * Makes room for a command that runs again.
     *
     * @param asked  what is made for it, bytes, if there can be as much
     * @param needed what it found no room for, bytes: so much is made at least
     */
    boolean admitAgain(Batch batch, int command, Client client, long asked, long needed) {
        return admit(batch, command, client, asked) || asked > needed && admit(batch, command, client, needed);
    }

    /** The same for what EXEC is to run. */
    boolean admit(Transaction queued, Client client, long refused) {
        long bytes = queued.neededBytes() + refused;
        if (cache.hasRoom(bytes)) {
            return true;
        }
        pins.pin(queued, client);
        return admit(bytes);
    }

    /** Makes room beside the keys that are pinned. Where there cannot be as much nothing is evicted in vain. */
    private boolean admit(long bytes) {
        boolean isMuch = bytes > cache.config().maxMemoryBytes() / MUCH_PART;
        return isMuch ? cache.admit(bytes, pins.bytes()) : cache.admit(bytes);
    }

    /** Pins before a command is queued for which memory may have to be made. */
    void pinForQueueing(Batch batch, int command, Client client) {
        if (!cache.hasRoom(Transaction.BLOCK_BYTES + neededBytes(batch, command))) {
            pins.pin(batch, command, client);
        }
    }

    /**
     * Makes room for a message that found none.
     *
     * @throws NoBufferException the same, if none can be made
     */
    void makeForMessage(NoBufferException none) {
        if (!none.roomHelps() || !cache.admit(Math.max(LEAST_ROOM_BYTES, 2 * none.bytes()))) {
            throw none;
        }
    }

    /**
     * Whether a command that found no room may be run once more after room was made: a growing value needs more than its
     * arguments say, and what is copied is not among them. It has changed nothing if it only reads, has one key or says so, and if it
     * took no run over.
     */
    boolean mayRunAgain(Batch batch, int command, CommandSpec spec) {
        if (spec.isWrite() && batch.keyCount(command) != 1 && !spec.isAllOrNothing()) {
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

    /** What a command may write at most, as far as its arguments tell, bytes. */
    long neededBytes(Batch batch, int command) {
        int first = batch.firstArgument(command);
        int count = batch.argumentCount(command);
        long bytes = ITEM_OVERHEAD_BYTES * (1L + batch.keyCount(command));
        int headRoom = batch.hasRuns() ? headRoomForKeys(batch, command) : 0;
        for (int i = first; i < first + count; i++) {
            // A run has been charged when it was opened; one that cannot be an item's as it is will be copied.
            bytes += batch.hasRun(i) && batch.headRoom(i) >= headRoom ? 0 : takenBy(batch.length(i));
        }
        return bytes;
    }

    /** The bytes that an argument takes as an item; the overhead of a small one is added separately. */
    private long takenBy(int length) {
        return length < LEAST_UNEVEN_BYTES ? length : cache.takenBy(length + (long) HEADER_BYTES);
    }

    private int headRoomForKeys(Batch batch, int command) {
        int longest = 0;
        int first = batch.firstKey(command);
        for (int i = first; i < first + batch.keyCount(command); i++) {
            longest = Math.max(longest, batch.key(i).length());
        }
        return session.headRoom(longest);
    }
}
