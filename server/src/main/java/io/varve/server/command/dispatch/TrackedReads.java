package io.varve.server.command.dispatch;

import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.tracking.Tracker;

/** Records the keys that tracking clients read. Immutable: static methods only. */
final class TrackedReads {
    private TrackedReads() {}

    /** Records the keys of a command that has run, if it only reads. The keys are still locked. */
    static void remember(Tracker tracker, CommandSpec spec, Batch batch, int firstKey, int keys) {
        // The commands that a script calls count, not its own.
        if (spec.has(CommandFlag.READONLY) && !spec.has(CommandTrait.RUNS_SCRIPT)) {
            for (int i = firstKey; i < firstKey + keys; i++) {
                tracker.hasRead(batch.key(i));
            }
        }
    }

    /** Ends CLIENT CACHING, which covers one command or one transaction. */
    static void commandEnded(Client client, Tracker tracker, CommandSpec spec) {
        if (tracker.isCaching() && client.transaction() == null && !spec.fullName().startsWith("client|")) {
            tracker.caching(false);
        }
    }
}
