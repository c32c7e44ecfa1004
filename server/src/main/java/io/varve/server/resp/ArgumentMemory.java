package io.varve.server.resp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tables of giant requests may take of the heap, over all connections. Thread-safe.
 *
 * <p>A client may announce two thousand million arguments, and each takes bytes of the heap when it arrives, however
 * short it is: without a limit of its own it would end the process long before the query buffer's limit is met.
 */
public final class ArgumentMemory {
    /** A table of up to so many entries is not charged. */
    public static final int FREE_ENTRIES = 4096;

    /** What lies in one piece takes one part of so many at the most: free room is seldom all in one place. */
    private static final int PIECE_PART = 16;
    /** Such a piece is allowed in any case. */
    private static final long SMALL_PIECE_BYTES = 64 << 10;

    /** What the server itself has on the heap: of a small one that is a good part. */
    private static final long SERVER_BYTES = 14 << 20;
    /** What one connection has there while it says nothing. */
    private static final int CONNECTION_BYTES = 2 << 10;

    private final long limitBytes;
    private final AtomicLong taken = new AtomicLong();

    public ArgumentMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /**
     * Three quarters of the heap: what the server needs beside them does not grow.
     *
     * @param others bytes of it that are others' already
     */
    public static ArgumentMemory ofHeapBeside(long others) {
        return new ArgumentMemory(Math.max(0, heapOfClientsBytes(Runtime.getRuntime().maxMemory()) - others) / 4 * 3);
    }

    /** This part of the heap: an eighth for 8. */
    public static ArgumentMemory ofHeapPart(int part) {
        return new ArgumentMemory(heapPartBytes(part));
    }

    /** How much that is. */
    public static long heapPartBytes(int part) {
        return heapOfClientsBytes(Runtime.getRuntime().maxMemory()) / part;
    }

    /**
     * What of a heap may be divided among clients: nearly all of a large one, of which the rest leaves enough for the server itself, and
     * of a small one what is beside the server.
     */
    static long heapOfClientsBytes(long heapBytes) {
        return Math.min(heapBytes, Math.max(0, heapBytes - SERVER_BYTES) / 5 * 6);
    }

    /** As many connections as half of the heap that is beside the server has room for: 20,000 in 96 MB. */
    public static long mostConnections() {
        return mostConnections(Runtime.getRuntime().maxMemory());
    }

    static long mostConnections(long heapBytes) {
        return Math.max(0, heapBytes - SERVER_BYTES) / 2 / CONNECTION_BYTES;
    }

    /** @return whether there was room; if not, nothing is taken */
    public boolean take(long bytes) {
        if (taken.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }

    /**
     * As {@link #take}, for what a client sent in one piece and is copied in one, such as a name. To be asked before it is copied.
     */
    public boolean takePiece(long bytes) {
        return bytes <= Math.max(SMALL_PIECE_BYTES, limitBytes / PIECE_PART) && take(bytes);
    }

    public void give(long bytes) {
        taken.addAndGet(-bytes);
    }

    /** The most that may be taken, bytes. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes in use. */
    public long takenBytes() {
        return taken.get();
    }
}
