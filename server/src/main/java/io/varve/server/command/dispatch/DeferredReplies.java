package io.varve.server.command.dispatch;

import java.util.function.Consumer;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Ticker;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;

/**
 * Writes everything but the replies of handlers: replies of parked commands, and messages. Confined to its event loop.
 */
final class DeferredReplies {
    private final ServerState server;
    private final CacheSession session;
    private final OomGuard oomGuard;
    private final Ticker clock;

    DeferredReplies(ServerState server, CacheSession session, OomGuard oomGuard, Ticker clock) {
        this.clock = clock;
        this.server = server;
        this.session = session;
        this.oomGuard = oomGuard;
    }

    /** Writes the reply of a parked command that has its answer. */
    void answer(ParkedCommand answered, Client client, ReplyWriter reply) {
        if (!answered.replies()) {
            return;
        }
        session.now(clock.wallMillis());
        long mark = reply.mark();
        long errors = reply.errors();
        write(java.util.Objects.requireNonNull(answered.answer()), reply, mark);
        if (reply.errors() != errors) {
            server.telemetry().errors().add(reply.lastError());
        }
        if (client.replyMode() != Client.ReplyMode.ON) {
            suppressReply(client, reply, mark);
        }
    }

    /** Retries are safe, because the answer only reads existing data. */
    private void write(Consumer<ReplyWriter> answer, ReplyWriter reply, long mark) {
        for (int tries = 1;; tries++) {
            try {
                answer.accept(reply);
                return;
            } catch (NoBufferException none) {
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                if (tries == CommandRunner.MAX_REPLY_TRIES || !oomGuard.reserveForReply(none, needed)) {
                    reply.error(Errors.of(none));
                    return;
                }
            }
        }
    }

    /** Writes pending messages, so that the client reads messages that precede a command before its reply. */
    void writeMessages(Client client, ReplyWriter reply) {
        try {
            client.subscriptions().writeAll(reply);
        } catch (NoBufferException none) {
            oomGuard.reserveForMessage(none);
            client.subscriptions().writeAll(reply);
        }
    }

    /** Removes a reply to a client whose reply mode suppresses it. */
    static void suppressReply(Client client, ReplyWriter reply, long mark) {
        switch (client.replyMode()) {
            case OFF -> reply.rollback(mark);
            case SKIP_NEXT -> {
                reply.rollback(mark);
                client.replyMode(Client.ReplyMode.SKIP);
            }
            case SKIP -> {
                reply.rollback(mark);
                client.replyMode(Client.ReplyMode.ON);
            }
            case ON -> {
            }
        }
    }
}
