package io.varve.server.replication;

import java.security.SecureRandom;
import java.util.HexFormat;

import org.jspecify.annotations.Nullable;

/**
 * The names of the changes of this server, as in Redis: an ID, and the offset in bytes. A replica has the names of its
 * primary. When it becomes a primary itself, its changes get a new ID, and the old one still names those before.
 * Guarded by the monitor of {@link Replicas}; {@link #id}, {@link #previousId} and {@link #previousEnd} are for any
 * thread.
 *
 * <p>Offsets in the protocol and in reports are those of the history; the change stream's own differ by a constant.
 */
final class History {
    private static final int ID_BYTES = 20;
    private static final long NONE = -1;

    private volatile String id = newId();
    private volatile @Nullable String previousId;
    private volatile long previousEnd = NONE;
    /** The offset in the history less that of the stream. */
    private volatile long shift;

    private static String newId() {
        byte[] random = new byte[ID_BYTES];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random);
    }

    String id() {
        return id;
    }

    /** The ID of the changes up to {@link #previousEnd}; null if they have the same. */
    @Nullable
    String previousId() {
        return previousId;
    }

    /** The offset from which on the changes have the new ID; -1 if they have always had it. */
    long previousEnd() {
        return previousEnd;
    }

    /** The offset in the history of an offset of the stream. */
    long ofStream(long offset) {
        return offset + shift;
    }

    /** The offset of the stream of an offset in the history. */
    long inStream(long offset) {
        return offset - shift;
    }

    /**
     * Whether a replica has a part of this history.
     *
     * @param wanted the ID that it has
     * @param next the first offset that it has not
     */
    boolean has(String wanted, long next) {
        return wanted.equals(id) || wanted.equals(previousId) && next <= previousEnd;
    }

    /** Begins a history that has nothing in common with the one before. */
    void renew() {
        id = newId();
        previousId = null;
        previousEnd = NONE;
    }

    /**
     * Takes over another server's history, of which this one has loaded the state at an offset.
     *
     * @param streamOffset the stream's offset at that state
     */
    void adopt(String otherId, long offset, long streamOffset) {
        id = otherId;
        previousId = null;
        previousEnd = NONE;
        shift = offset - streamOffset;
    }

    /**
     * Goes on with another ID.
     *
     * @param otherId null: a new one
     * @param end the offset of the next change
     */
    void rename(@Nullable String otherId, long end) {
        previousId = id;
        previousEnd = end;
        id = otherId == null ? newId() : otherId;
    }
}
