package io.varve.server.command.dispatch;

import java.util.function.Consumer;

import io.varve.memory.CacheSession;
import io.varve.server.command.Client;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;

/** What is written besides the replies of handlers that have just run: answers that came later, and messages. Confined to its event loop. */
final class LaterReplies {
    private final ServerContext server;
    private final CacheSession session;
    private final CommandRoom room;

    LaterReplies(ServerContext server, CacheSession session, CommandRoom room) {
        this.server = server;
        this.session = session;
        this.room = room;
    }

    /** Writes the reply of a command that was suspended and has its answer now. */
    void answer(Suspension answered, Client client, ReplyWriter reply) {
        if (!answered.replies()) {
            return;
        }
        session.now(server.ticker().wallMillis());
        long mark = reply.mark();
        long errors = reply.errors();
        write(java.util.Objects.requireNonNull(answered.answer()), reply, mark);
        if (reply.errors() != errors) {
            server.errors().add(reply.lastError());
        }
        if (client.replyMode() != Client.ReplyMode.ON) {
            leaveOut(client, reply, mark);
        }
    }

    /** It looks at most at what is there, so it may be written again. */
    private void write(Consumer<ReplyWriter> answer, ReplyWriter reply, long mark) {
        for (int tries = 1;; tries++) {
            try {
                answer.accept(reply);
                return;
            } catch (NoBufferException none) {
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                if (tries == Dispatcher.MAX_REPLY_TRIES || !room.makeForReply(none, needed)) {
                    reply.error(Errors.of(none));
                    return;
                }
            }
        }
    }

    /** What was published before a command runs is read before its reply. */
    void writeMessages(Client client, ReplyWriter reply) {
        try {
            client.subscriptions().writeAll(reply);
        } catch (NoBufferException none) {
            room.makeForMessage(none);
            client.subscriptions().writeAll(reply);
        }
    }

    /** Takes back what was replied to a client that wants no replies. */
    static void leaveOut(Client client, ReplyWriter reply, long mark) {
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
