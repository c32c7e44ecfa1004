package io.varve.server.replication;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * One replica of this server, and what its connection sends: texts of the protocol, then the snapshot, then the change
 * stream. Guarded by its own monitor, under which it takes that of the backlog.
 *
 * <pre>
 *             begin             endSnapshot            acknowledge
 *  WAITING --------> SNAPSHOT -------------> LOADING --------------> ONLINE
 *     |                                                                ^
 *     +---------------- resume: the backlog has its offset ------------+
 * </pre>
 *
 * <p>A replica that receives a snapshot of unknown length recognizes its end by the last bytes that it has read, so
 * nothing may follow before it has acknowledged that. If it knows the length, it goes ONLINE at once.
 */
public final class Replica implements Feed {
    private static final byte[] NONE = {};
    private static final byte[] KEEP_ALIVE = {'\n'};
    /** How often a wait for the connection looks whether it makes progress, in ms. */
    private static final long WAIT_MILLIS = 100;
    private static final long NOT_BEGUN = -1;
    private static final long NEVER = -1;

    /** See the diagram. */
    public enum State {
        WAITING("wait_bgsave"), SNAPSHOT("send_bulk"), LOADING("send_bulk"), ONLINE("online");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /** As INFO shows it. */
        public String text() {
            return text;
        }
    }

    private final ReplicaLink link;
    private final Backlog backlog;
    private final Ticker ticker;
    private final AtomicBoolean announced = new AtomicBoolean();
    private volatile String host;
    private volatile String memberId = "";
    private volatile long generation;
    private volatile int port;
    private volatile boolean readsToMark;
    private volatile boolean resumesByName;
    private volatile boolean onlySnapshot;
    private volatile boolean isOld;
    private volatile State state = State.WAITING;
    private volatile boolean ended;
    private volatile long acknowledged;
    private volatile long onDisk;
    private volatile long activeMillis;
    /** The next offset to send. */
    private volatile long position = NOT_BEGUN;
    private long overSoftSinceMillis = NEVER;
    private String firstLine = "";
    private boolean acknowledgedEarly;
    private byte[] text = NONE;
    private int textAt;
    private MemorySegment piece = MemorySegment.NULL;
    private long pieceAt;

    Replica(ReplicaLink link, Backlog backlog, Ticker ticker, String host) {
        this.link = link;
        this.backlog = backlog;
        this.ticker = ticker;
        this.host = host;
        activeMillis = nowMillis();
    }

    /** A clock that does not jump when the machine's time is set. */
    private long nowMillis() {
        return TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime());
    }

    // --- what it says about itself

    /** The address at which it serves clients. */
    public void host(String announcedHost) {
        host = announcedHost;
    }

    public String host() {
        return host;
    }

    /** Its ID in the cluster; empty: it has not said one. */
    public String memberId() {
        return memberId;
    }

    /** See {@link #memberId()}. */
    public void memberId(String value) {
        memberId = value;
    }

    /** The generation of its process in the cluster; 0: it has not said one. */
    public long generation() {
        return generation;
    }

    /** See {@link #generation()}. */
    public void generation(long value) {
        generation = value;
    }

    /** The port at which it serves clients; 0 if it has not said. */
    public void port(int listening) {
        port = listening;
    }

    public int port() {
        return port;
    }

    /** It understands a snapshot whose length is not known in advance. */
    public void readsToMark(boolean value) {
        readsToMark = value;
    }

    boolean readsToMark() {
        return readsToMark;
    }

    /** It understands a changed replication id. */
    public void resumesByName(boolean value) {
        resumesByName = value;
    }

    /** It wants a snapshot and nothing else. */
    public void onlySnapshot(boolean value) {
        onlySnapshot = value;
    }

    /** It is of a version that expects the snapshot at once, without a line that names the history. */
    public void repliesWithData() {
        isOld = true;
    }

    // --- figures

    public State state() {
        return state;
    }

    /** Whether its connection has ended, or is about to. */
    public boolean hasEnded() {
        return ended;
    }

    /** The offset up to which it has run the change stream. */
    public long acknowledged() {
        return acknowledged;
    }

    /** Milliseconds since it has sent something. */
    public long lagMillis() {
        return Math.max(0, nowMillis() - activeMillis);
    }

    /**
     * Notes whether it is over the soft limit. Called by the maintenance thread.
     *
     * @return for how long it has been, in ms
     */
    long overSoftLimit(boolean isOver) {
        long now = nowMillis();
        if (!isOver) {
            overSoftSinceMillis = NEVER;
            return 0;
        }
        if (overSoftSinceMillis == NEVER) {
            overSoftSinceMillis = now;
        }
        return now - overSoftSinceMillis;
    }

    /** The first offset that it still needs; {@link Long#MAX_VALUE} if none. */
    long needed() {
        long next = position;
        return ended || next == NOT_BEGUN ? Long.MAX_VALUE : next;
    }

    // --- transitions

    /**
     * Continues the change stream where it was.
     *
     * @return false if the backlog does not have that any more
     */
    synchronized boolean resume(String id, long offset) {
        position = offset;
        // The position keeps what it needs in the backlog: only then is the answer lasting.
        if (!backlog.has(offset)) {
            position = NOT_BEGUN;
            return false;
        }
        acknowledged = offset;
        say(resumesByName ? "+CONTINUE " + id + "\r\n" : "+CONTINUE\r\n");
        state = State.ONLINE;
        announce();
        return true;
    }

    /**
     * The snapshot that it will receive is the state at this offset.
     *
     * @param answer names the history and the offset in it; left out for old versions
     * @param head follows the first line; null: all waits for {@link #announceLength}
     */
    synchronized void begin(long offset, String answer, @Nullable String head) {
        position = offset;
        acknowledged = offset;
        firstLine = isOld ? "" : answer;
        if (head != null) {
            beginSnapshot(head);
        }
    }

    /** Says how long the snapshot is that follows. */
    public synchronized void announceLength(long bytes) {
        beginSnapshot("$" + bytes + "\r\n");
    }

    private void beginSnapshot(String head) {
        state = State.SNAPSHOT;
        say(firstLine + head);
        announce();
    }

    /**
     * Hands over a piece of the snapshot, which the connection reads from where it is: {@link #awaitRead} says when
     * that is done.
     */
    public synchronized void offer(MemorySegment bytes) {
        piece = bytes;
        pieceAt = 0;
        announce();
    }

    /**
     * Waits until the connection has read what was offered, or ends it because nothing moves.
     *
     * @param timeoutMillis how long it may read nothing
     * @return whether it has read everything
     */
    public synchronized boolean awaitRead(long timeoutMillis) throws IOException {
        long movedAt = pieceAt;
        long movedNanos = ticker.nanoTime();
        while (!ended && pieceAt < piece.byteSize()) {
            try {
                wait(WAIT_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IOException("the server is closing", interrupted);
            }
            if (pieceAt != movedAt) {
                movedAt = pieceAt;
                movedNanos = ticker.nanoTime();
            } else if (ticker.nanoTime() - movedNanos > TimeUnit.MILLISECONDS.toNanos(timeoutMillis)) {
                end();
            }
        }
        piece = MemorySegment.NULL;
        pieceAt = 0;
        return !ended;
    }

    /** The snapshot was sent as a whole. */
    public synchronized void endSnapshot() {
        activeMillis = nowMillis();
        state = readsToMark && !acknowledgedEarly ? State.LOADING : State.ONLINE;
        announce();
    }

    /** It has run the change stream up to this offset. */
    public synchronized void acknowledge(long offset) {
        acknowledged = Math.max(acknowledged, offset);
        activeMillis = nowMillis();
        if (state == State.LOADING) {
            state = State.ONLINE;
            announce();
        } else if (state == State.SNAPSHOT) {
            // It has read the end, and the thread that sends does not know yet.
            acknowledgedEarly = true;
        }
    }

    /** It has the change stream on disk up to this offset. */
    public void acknowledgeOnDisk(long offset) {
        onDisk = offset;
    }

    /** The offset up to which it has the change stream on disk, as far as it has said. */
    long onDisk() {
        return onDisk;
    }

    /** It has sent something. */
    public void alive() {
        activeMillis = nowMillis();
    }

    /** Whether it should have sent something, and has not for so long. Those of old versions never do. */
    boolean isSilent(long millis) {
        return (state == State.LOADING || state == State.ONLINE) && !isOld && lagMillis() > millis;
    }

    /** Tells a replica that waits for its snapshot that this server is alive. */
    synchronized void keepAlive() {
        if (state == State.WAITING && text.length == 0) {
            text = KEEP_ALIVE;
            announce();
        }
    }

    /** Closes its connection. */
    public void end() {
        disconnected();
        link.kill();
    }

    @Override
    public synchronized void disconnected() {
        ended = true;
        notifyAll();
    }

    // --- its connection

    private void say(String more) {
        byte[] bytes = more.getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[text.length - textAt + bytes.length];
        System.arraycopy(text, textAt, all, 0, text.length - textAt);
        System.arraycopy(bytes, 0, all, text.length - textAt, bytes.length);
        text = all;
        textAt = 0;
    }

    /** There is something to read. Any thread. */
    void announce() {
        if (!announced.get() && announced.compareAndSet(false, true)) {
            link.onFeed();
        }
    }

    /** Whether the change stream is sent to it. */
    boolean isOnline() {
        return state == State.ONLINE;
    }

    @Override
    public void begin() {
        announced.set(false);
    }

    @Override
    public synchronized int read(long address, int capacity) {
        if (ended) {
            return END;
        }
        if (text.length > 0) {
            return readText(address, capacity);
        }
        if (pieceAt < piece.byteSize()) {
            int copied = (int) Math.min(capacity, piece.byteSize() - pieceAt);
            Memory.copy(piece.address() + pieceAt, address, copied);
            pieceAt += copied;
            if (pieceAt == piece.byteSize()) {
                notifyAll();
            }
            return copied;
        }
        if (onlySnapshot && (state == State.LOADING || state == State.ONLINE)) {
            return END;
        }
        if (state != State.ONLINE) {
            return 0;
        }
        int copied = backlog.read(position, address, capacity);
        if (copied == Backlog.GONE) {
            return END;
        }
        position += copied;
        return copied;
    }

    private int readText(long address, int capacity) {
        int copied = Math.min(capacity, text.length - textAt);
        Memory.copy(text, textAt, address, copied);
        textAt += copied;
        if (textAt == text.length) {
            text = NONE;
            textAt = 0;
        }
        return copied;
    }
}
