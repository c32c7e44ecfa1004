package io.varve.cluster.protocol;

import io.varve.cluster.map.SlotMap;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a heartbeat. Immutable.
 *
 * @param leaseMillis the lease, which begins when the member sent the heartbeat; 0: none
 * @param nextMillis when to send the next heartbeat
 * @param term of the leader
 * @param stamp the leader's time of receipt, which the next heartbeat returns
 * @param map null if the member has it
 */
public record HeartbeatReply(Status status, long leaseMillis, long nextMillis, long term, long stamp,
        @Nullable SlotMap map) {
    /** How the leader knows the member. */
    public enum Status {
        /** It is a member. */
        MEMBER(1),
        /** It is not, or not any more. */
        UNKNOWN(2),
        /** A later process has registered with its ID. */
        REPLACED(3),
        /** The controller cannot tell now: it may not lead any more. */
        RETRY(4);

        private final int code;

        Status(int code) {
            this.code = code;
        }

        /** Its number in a message. */
        int code() {
            return code;
        }
    }
}
