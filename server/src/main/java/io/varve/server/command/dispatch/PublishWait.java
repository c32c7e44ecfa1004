package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.server.command.Arguments;
import io.varve.server.command.Blocking;
import io.varve.server.command.Client;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;
import io.varve.server.command.Transaction;

/** Who publishes faster than others read waits. Confined to its event loop. */
final class PublishWait {
    /** How long a client waits, at most, before it may publish. */
    private static final long MOST_WAIT_MILLIS = 1000;

    private final ServerContext server;
    private final CacheSession session;

    PublishWait(ServerContext server, CacheSession session) {
        this.server = server;
        this.session = session;
    }

    /**
     * Whether a command leaves messages for others.
     *
     * @param tellsEvents whether what happens to keys is told as messages
     */
    static boolean publishes(CommandSpec spec, Client client, boolean tellsEvents) {
        Transaction executed = TransactionRunner.executed(spec, client);
        return spec.publishes() || tellsEvents && spec.isWrite()
                || executed != null && (executed.publishes() || tellsEvents && executed.writes());
    }

    /** Whether those who listen are so far behind that a client waits with what it publishes: for a while. */
    boolean isNeeded(Client client) {
        long since = client.waitsToPublishSinceMillis();
        if (server.channels().areBehind() && (since == 0 || session.now() - since < MOST_WAIT_MILLIS)) {
            return true;
        }
        client.waitsToPublishSinceMillis(0);
        return false;
    }

    /** What it waits for: its command is to run again then. */
    Suspension begin(Client client, CommandSpec spec, Arguments command) {
        if (client.waitsToPublishSinceMillis() == 0) {
            client.waitsToPublishSinceMillis(session.now());
        }
        Suspension waiting = Blocking.heldUp(server, client, spec, command, MOST_WAIT_MILLIS);
        server.channels().whenDelivered(() -> waiting.answer(_ -> {}));
        return waiting;
    }
}
