package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.server.command.ServerState;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;

/** Makes publishers wait while subscribers read too slowly. Confined to its event loop. */
final class PublishBackpressure {
    /** Maximum wait of a client before it may publish, ms. */
    private static final long MAX_WAIT_MILLIS = 1000;

    private final ServerState server;
    private final CacheSession session;

    PublishBackpressure(ServerState server, CacheSession session) {
        this.server = server;
        this.session = session;
    }

    /**
     * Whether a command publishes messages.
     *
     * @param publishesEvents whether keyspace events are published as messages
     */
    static boolean publishes(CommandSpec spec, Client client, boolean publishesEvents) {
        Transaction executed = TransactionRunner.executed(spec, client);
        return spec.has(CommandTrait.PUBLISHES) || publishesEvents && spec.isWrite()
                || executed != null && (executed.publishes() || publishesEvents && executed.writes());
    }

    /** Whether subscribers are so far behind that the client has to wait, within the time limit. */
    boolean isNeeded(Client client) {
        long since = client.waitState().waitsToPublishSinceMillis();
        if (server.notifications().channels().isBacklogged()
                && (since == 0 || session.now() - since < MAX_WAIT_MILLIS)) {
            return true;
        }
        client.waitState().waitsToPublishSinceMillis(0);
        return false;
    }

    /** Starts the wait, after which the command runs again. */
    ParkedCommand begin(Client client, CommandSpec spec, Arguments command) {
        if (client.waitState().waitsToPublishSinceMillis() == 0) {
            client.waitState().waitsToPublishSinceMillis(session.now());
        }
        ParkedCommand waiting = Blocking.delayed(server, client, spec, command, MAX_WAIT_MILLIS);
        server.notifications().channels().onDelivered(() -> waiting.answer(_ -> {}));
        return waiting;
    }
}
