package io.varve.cluster.client;

import io.varve.cluster.map.SlotMap;

/**
 * A server as its {@link MemberSession} sees it. The session's thread calls all methods, which must not block for long:
 * no heartbeat leaves meanwhile.
 */
public interface MemberState {
    /**
     * The replication offset. As long as there is no complete data set,
     * {@link io.varve.cluster.protocol.Query.Heartbeat#NO_DATA} or {@code LOADING}.
     */
    long replicationOffset();

    /** The map has changed. The lease that came with it counts after this method has returned. */
    void mapChanged(SlotMap map);

    /**
     * The lease was granted or extended, for the last map.
     *
     * @param untilNanos its end, a value of {@link System#nanoTime}
     */
    void leased(long untilNanos);

    /**
     * The server is no member any more, and the session has ended: it was removed, or another process has registered
     * with its ID.
     */
    void removed(String reason);

    /** The controllers refuse the registration. The session tries again. */
    void refused(String reason);
}
