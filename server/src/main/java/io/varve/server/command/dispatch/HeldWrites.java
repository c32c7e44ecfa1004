package io.varve.server.command.dispatch;

import io.varve.server.command.ServerState;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.persistence.ChangeStream;

/**
 * The wait of commands that write while the disk is slower than they are, while another server becomes the primary, or
 * while clients are paused. Stateless.
 *
 * <p>They are held before they lock shards, and again under the locks: a server that hands over its role waits for
 * those locks once, and then no write is left that began before.
 */
final class HeldWrites {
    private HeldWrites() {}

    /** The command runs again afterwards. */
    static ParkedCommand await(ServerState server) {
        if (server.pause().isAny()) {
            return server.pause().await();
        }
        ChangeStream changes = server.changes();
        ParkedCommand wait = ParkedCommand.hidden();
        Runnable resume = wait::resume;
        wait.onFinish(() -> changes.cancel(resume));
        changes.whenOpen(resume);
        return wait;
    }
}
