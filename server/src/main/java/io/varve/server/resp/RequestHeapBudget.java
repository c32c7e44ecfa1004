package io.varve.server.resp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A heap budget for the argument tables of giant requests, over all connections. Thread-safe.
 *
 * <p>A client may announce two thousand million arguments, and each takes heap bytes when it arrives, however short it
 * is. Without its own limit such a request would end the process long before it reaches the query buffer's limit.
 */
public final class RequestHeapBudget {
    /** Tables of up to this many entries are not charged. */
    public static final int FREE_ENTRIES = 4096;

    /** Maximum fraction of the budget for one contiguous piece, since free heap memory is fragmented. */
    private static final int PIECE_PART = 16;
    /** A piece up to this size is always permitted. */
    private static final long SMALL_PIECE_BYTES = 64 << 10;

    /** Heap memory of the server itself: a considerable part of a small heap. */
    private static final long SERVER_BYTES = 14 << 20;
    /** Heap memory of an idle connection. */
    private static final int CONNECTION_BYTES = 2 << 10;

    private final long limitBytes;
    private final AtomicLong reserved = new AtomicLong();

    public RequestHeapBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * Three quarters of the clients' heap memory, less others' reservations: the server's needs beside them do not
     * grow.
     *
     * @param others bytes that are reserved for other purposes
     */
    public static RequestHeapBudget ofHeapBeside(long others) {
        return new RequestHeapBudget(
                Math.max(0, heapOfClientsBytes(Runtime.getRuntime().maxMemory()) - others) / 4 * 3);
    }

    /** A budget of this fraction of the clients' heap: an eighth for 8. */
    public static RequestHeapBudget ofHeapPart(int part) {
        return new RequestHeapBudget(heapPartBytes(part));
    }

    /** The bytes of this fraction. */
    public static long heapPartBytes(int part) {
        return heapOfClientsBytes(Runtime.getRuntime().maxMemory()) / part;
    }

    /**
     * Heap memory that may be divided among clients. For a large heap it is nearly all, since the rest suffices for the
     * server itself; for a small one it is the part beside the server.
     */
    static long heapOfClientsBytes(long heapBytes) {
        return Math.min(heapBytes, Math.max(0, heapBytes - SERVER_BYTES) / 5 * 6);
    }

    /** As many connections as fit in half of the heap beside the server: 20,000 in 96 MB. */
    public static long maxConnections() {
        return maxConnections(Runtime.getRuntime().maxMemory());
    }

    static long maxConnections(long heapBytes) {
        return Math.max(0, heapBytes - SERVER_BYTES) / 2 / CONNECTION_BYTES;
    }

    /** @return whether the budget sufficed; if not, nothing is taken */
    public boolean tryReserve(long bytes) {
        if (reserved.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        reserved.addAndGet(-bytes);
        return false;
    }

    /**
     * As {@link #tryReserve}, for something that a client sent in one piece and that is copied in one, such as a name.
     * Called before the copy.
     */
    public boolean tryReservePiece(long bytes) {
        return bytes <= Math.max(SMALL_PIECE_BYTES, limitBytes / PIECE_PART) && tryReserve(bytes);
    }

    public void release(long bytes) {
        reserved.addAndGet(-bytes);
    }

    /** The limit, bytes. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes in use. */
    public long reservedBytes() {
        return reserved.get();
    }
}
