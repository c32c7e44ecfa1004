package io.varve.server.linearizability;

import org.jspecify.annotations.Nullable;

/**
 * A client's request with its times and its reply. Immutable.
 *
 * @param client its number
 * @param reply in the words of {@link StoreState}; null: any reply
 * @param invokedAt before the send; all times are of one clock
 * @param respondedAt after its reply was read; {@link #NEVER} if it was not
 */
public record Operation(int client, Request request, @Nullable String reply, long invokedAt, long respondedAt) {
    /** No reply has come: it has happened or not. */
    public static final long NEVER = Long.MAX_VALUE;

    boolean isAnswered() {
        return respondedAt != NEVER;
    }

    /** Whether this had ended when the other began. */
    boolean isBefore(Operation other) {
        return respondedAt < other.invokedAt;
    }

    /** As it was known at a time before its reply came. */
    Operation unanswered() {
        return new Operation(client, request, null, invokedAt, NEVER);
    }

    Operation withAnyReply() {
        return new Operation(client, request, null, invokedAt, respondedAt);
    }
}
