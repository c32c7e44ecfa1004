package io.varve.server.persistence;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.offheap.Memory;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * The changes of the key space, as commands in RESP that reproduce them, in one order: for each key in the order of its
 * changes, and the commands of a transaction together. Any thread appends under the locks of the shards that it has
 * changed, and never waits for a disk; one thread takes. Guarded by its own monitor, the last in the lock order.
 *
 * <p>The <i>offset</i> counts the bytes of all commands. Lines that begin with {@code #} are not commands, and do not
 * count: {@code #T:} and a time, in milliseconds since the epoch, says when the commands after it ran. So whoever runs
 * them again comes to the same decisions about expiry.
 *
 * <p>In a replica, the stream is the primary's, byte by byte: the thread that runs the primary's commands
 * {@linkplain #relay relays} them. Nothing had expired for it, and so nothing has for whoever runs the log again.
 */
public final class ChangeStream implements AutoCloseable {
    /** {@link #append} returns it for a change of a server that has become a replica. */
    public static final long DROPPED = -1;
    /** Begins the line with the time of the commands after it. */
    public static final String TIME = "#T:";
    /** Above this many pending bytes, writes wait. */
    private static final long MAX_PENDING_BYTES = 64L << 20;
    private static final int BLOCK_BYTES = 256 << 10;
    private static final int MAX_FREE_BLOCKS = 32;
    private static final int NO_DATABASE = -1;
    private static final long NO_TIME = -1;
    /** The time of relayed commands: before all expiry. */
    private static final long RELAYED_TIME = 1;

    /**
     * Receives every byte of the commands as it is appended, for replicas. Called under the stream's monitor, and under
     * the locks of the changed shards: it neither waits nor throws.
     */
    public interface Copies {
        void append(byte[] bytes);

        void append(long address, long length);

        /** Commands are complete: they may leave. */
        void appended();

        /** A change is missing from the stream: nothing after it may leave. */
        void failed();
    }

    /** A piece of memory, and how much of it is used. */
    static final class Block {
        private final NativeMemory owner = new NativeMemory();
        final MemorySegment memory = owner.allocate(BLOCK_BYTES);
        int used;
    }

    /** Commands that were taken together: a whole number of them. */
    static final class Section {
        final List<Block> blocks = new ArrayList<>();
        /** Whether a new file begins here: see {@link ChangeStream#cut}. */
        final boolean startsFile;
        /** The offset before its first command, and the one after its last. */
        final long start;
        long end;
        long bytes;

        Section(boolean startsFile, long start) {
            this.startsFile = startsFile;
            this.start = start;
            end = start;
        }
    }

    private final Deque<Section> sections = new ArrayDeque<>();
    private final Deque<Block> free = new ArrayDeque<>();
    private final Set<Runnable> onDrained = new LinkedHashSet<>();
    private Section open = new Section(false, 0);
    private long offset;
    private int database = NO_DATABASE;
    private long timeMillis = NO_TIME;
    private long pendingBytes;
    private boolean attached;
    /** Whether the log's reader takes what is appended: it is attached, and a file was begun. */
    private boolean logged;
    private @Nullable Copies copies;
    private @Nullable Throwable failure;
    private volatile boolean on;
    private volatile boolean full;
    /** How many hold writes: a failover and a pause of clients may overlap. */
    private int pauses;
    /** Whether it is full or paused. */
    private volatile boolean holdsWrites;
    /** The thread that relays the stream of a primary; null if this server is one. */
    private volatile @Nullable Thread relay;
    private boolean strayed;
    private boolean isSealed;

    public ChangeStream() {
        sections.add(open);
    }

    /** Whether there is a log or a replica: if not, the calling thread has nothing to append. */
    public boolean isOn() {
        return on && !Thread.currentThread().equals(relay);
    }

    /** A reader takes what is appended after the next {@link #cut}. */
    synchronized void attach() {
        attached = true;
        // The log does not need the commands that only replicas have received.
        open.end = offset;
    }

    /** The server ends: what its commands change from here on is not kept. */
    public synchronized void seal() {
        isSealed = true;
    }

    /** Ends {@link #attach}: nothing is appended any more. The reader still takes what was. */
    synchronized void detach() {
        attached = false;
        logged = false;
        turn();
    }

    /**
     * Has every command from here on copied. The first one is preceded by its database. The caller holds the locks of
     * all shards.
     *
     * @return the offset before the first copied command
     */
    public synchronized long copyTo(Copies receiver) {
        copies = receiver;
        on = true;
        database = NO_DATABASE;
        return offset;
    }

    /** Ends {@link #copyTo}. */
    public synchronized void stopCopies() {
        copies = null;
        turn();
    }

    /** Copies a command that changes nothing, and that the log does not need. Its bytes count for the offset. */
    public synchronized void copyOnly(byte[] command) {
        if (copies != null && relay == null) {
            copies.append(command);
            advance(command.length);
            copies.appended();
        }
    }

    /** The offset after the last command. */
    public synchronized long offset() {
        return offset;
    }

    /** Bytes that were appended and not written yet. */
    public synchronized long pendingBytes() {
        return pendingBytes;
    }

    /** Whether there is nothing to take. */
    synchronized boolean isEmpty() {
        Section first = sections.getFirst();
        return first == open && first.start == first.end && !first.startsFile;
    }

    /** Whether so much is pending that its reader must not rest. */
    public boolean isFull() {
        return full;
    }

    /** Whether commands of clients that write have to wait: see {@link #whenOpen}. */
    public boolean holdsWrites() {
        return holdsWrites;
    }

    /** Lets writes wait, until {@link #resumeWrites}. */
    public synchronized void pauseWrites() {
        pauses++;
        holdsWrites = true;
    }

    /** Ends one call of {@link #pauseWrites}. Those who wait look whether another one holds them. */
    public void resumeWrites() {
        synchronized (this) {
            pauses--;
            holdsWrites = full || pauses > 0;
        }
        wakeWaiters();
    }

    /** Runs an action when writes need not wait any more, perhaps at once, on any thread. */
    public void whenOpen(Runnable action) {
        synchronized (this) {
            if (holdsWrites) {
                onDrained.add(action);
                return;
            }
        }
        action.run();
    }

    /** Forgets an action that waits: its client is gone. */
    public synchronized void cancel(Runnable action) {
        onDrained.remove(action);
    }

    /** How many actions wait for room. */
    synchronized int waiterCount() {
        return onDrained.size();
    }

    /**
     * Appends commands. The caller holds the locks of the shards that they have changed.
     *
     * @param first the database of the first command
     * @param last the database after the last one
     * @param nowMillis when they ran, milliseconds since the epoch
     * @return the offset after them; {@link #DROPPED} if the stream is a primary's
     */
    public synchronized long append(int first, int last, long nowMillis, long address, long length) {
        if (!on || isSealed) {
            return offset;
        }
        if (relay != null) {
            strayed = true;
            return DROPPED;
        }
        try {
            appendCommands(first, last, nowMillis, address, length);
        } catch (OutOfMemoryError noBlock) {
            fail(noBlock);
            throw noBlock;
        }
        return offset;
    }

    private void appendCommands(int first, int last, long nowMillis, long address, long length) {
        if (logged && nowMillis != timeMillis) {
            timeMillis = nowMillis;
            put((TIME + nowMillis + "\r\n").getBytes(StandardCharsets.US_ASCII));
        }
        if (first != database) {
            byte[] select = select(first);
            if (logged) {
                put(select);
            }
            if (copies != null) {
                copies.append(select);
            }
            advance(select.length);
        }
        database = last;
        if (logged) {
            put(address, length);
        }
        advance(length);
        if (copies != null) {
            copies.append(address, length);
            copies.appended();
        }
    }

    // --- the stream of a primary

    /**
     * From here on the stream is that of a primary, which this thread relays. Changes of other threads are not
     * appended: see {@link #hasStrayed}.
     */
    public synchronized void beginRelay(Thread thread) {
        relay = thread;
        strayed = false;
        database = NO_DATABASE;
        // Others have to see that their changes are not kept.
        on = true;
    }

    /** All data is about to be replaced: what has strayed so far does not matter. */
    public synchronized void forgetStrayed() {
        strayed = false;
    }

    /**
     * Ends {@link #beginRelay}: this server's own changes follow.
     *
     * @return whether any has {@linkplain #hasStrayed strayed}
     */
    public synchronized boolean endRelay() {
        relay = null;
        database = NO_DATABASE;
        timeMillis = NO_TIME;
        turn();
        return strayed;
    }

    private void turn() {
        on = logged || copies != null || relay != null;
    }

    /**
     * Whether another thread has changed the data since {@link #beginRelay}: this server's data may not be the
     * primary's.
     */
    public synchronized boolean hasStrayed() {
        return strayed;
    }

    /**
     * Appends commands of the primary, as they were received, after they have run.
     *
     * @param first the database of the first one
     * @param forLog whether the log gets them, or only replicas do
     */
    public synchronized void relay(int first, long address, long length, boolean forLog) {
        try {
            if (logged && forLog) {
                if (timeMillis != RELAYED_TIME) {
                    timeMillis = RELAYED_TIME;
                    put((TIME + RELAYED_TIME + "\r\n").getBytes(StandardCharsets.US_ASCII));
                }
                if (database == NO_DATABASE) {
                    put(select(first));
                }
                // The commands select the databases of the later ones.
                database = first;
                put(address, length);
            }
        } catch (OutOfMemoryError noBlock) {
            fail(noBlock);
            throw noBlock;
        }
        advance(length);
        if (copies != null) {
            copies.append(address, length);
            copies.appended();
        }
    }

    private static byte[] select(int number) {
        String digits = Integer.toString(number);
        return ("*2\r\n$6\r\nSELECT\r\n$" + digits.length() + "\r\n" + digits + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private void advance(long bytes) {
        offset += bytes;
        if (attached) {
            open.end = offset;
        }
    }

    /**
     * A change was made that the stream has not, or has in part: the reader must not write what follows. It stays on,
     * so that nobody is told that a later change is durable.
     */
    synchronized void fail(Throwable cause) {
        if (attached && failure == null) {
            failure = cause;
        }
        if (copies != null) {
            copies.failed();
        }
    }

    private void put(byte[] bytes) {
        Block block = room();
        if (BLOCK_BYTES - block.used < bytes.length) {
            block = newBlock();
        }
        Memory.copy(bytes, 0, block.memory.address() + block.used, bytes.length);
        count(block, bytes.length);
    }

    private void put(long address, long length) {
        long from = address;
        long left = length;
        while (left > 0) {
            Block block = room();
            int copied = (int) Math.min(left, BLOCK_BYTES - block.used);
            Memory.copy(from, block.memory.address() + block.used, copied);
            count(block, copied);
            from += copied;
            left -= copied;
        }
    }

    private void count(Block block, int bytes) {
        block.used += bytes;
        open.bytes += bytes;
        pendingBytes += bytes;
        if (pendingBytes > MAX_PENDING_BYTES) {
            full = true;
            holdsWrites = true;
        }
    }

    private Block room() {
        Block last = open.blocks.isEmpty() ? null : open.blocks.getLast();
        return last == null || last.used == BLOCK_BYTES ? newBlock() : last;
    }

    private Block newBlock() {
        Block block = free.isEmpty() ? new Block() : free.removeLast();
        block.used = 0;
        open.blocks.add(block);
        return block;
    }

    /**
     * Begins a file: what is appended from now on goes there. It does not depend on what the file before has said about
     * database and time. Without a reader, nothing is appended. The caller holds the locks of all shards.
     *
     * @return the offset at which the file begins
     */
    public synchronized long cut() {
        if (!attached) {
            return offset;
        }
        logged = true;
        on = true;
        open = new Section(true, offset);
        sections.addLast(open);
        database = NO_DATABASE;
        timeMillis = NO_TIME;
        return offset;
    }

    /**
     * Takes commands off the stream, in order; null if there are none. Its thread returns them when it is done.
     *
     * @throws IllegalStateException after {@link #fail}
     */
    synchronized @Nullable Section take() {
        if (failure != null) {
            throw new IllegalStateException("a change could not be kept", failure);
        }
        Section first = sections.getFirst();
        if (first == open) {
            if (isEmpty()) {
                return null;
            }
            open = new Section(false, offset);
            sections.addLast(open);
        }
        return sections.removeFirst();
    }

    /** Returns the memory of a section that was written. */
    void release(Section written) {
        List<Block> surplus = new ArrayList<>();
        boolean drained;
        synchronized (this) {
            for (Block block : written.blocks) {
                if (free.size() < MAX_FREE_BLOCKS) {
                    free.addLast(block);
                } else {
                    surplus.add(block);
                }
            }
            pendingBytes -= written.bytes;
            full = pendingBytes > MAX_PENDING_BYTES;
            holdsWrites = full || pauses > 0;
            drained = !holdsWrites;
        }
        surplus.forEach(block -> block.owner.close());
        if (drained) {
            wakeWaiters();
        }
    }

    /** Runs all actions that wait for room: it is there, or there will be none for long. */
    void wakeWaiters() {
        List<Runnable> actions;
        synchronized (this) {
            actions = List.copyOf(onDrained);
            onDrained.clear();
        }
        actions.forEach(Runnable::run);
    }

    @Override
    public synchronized void close() {
        on = false;
        logged = false;
        copies = null;
        free.forEach(block -> block.owner.close());
        free.clear();
        sections.forEach(section -> section.blocks.forEach(block -> block.owner.close()));
        sections.clear();
        open = new Section(false, offset);
        sections.add(open);
    }
}
