package io.varve.server.command.dispatch;

import io.varve.server.command.Batch;
import io.varve.server.command.Client;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.tracking.Tracker;

/** What clients that cache what they read have read. Immutable: static methods only. */
final class TrackedReads {
    private TrackedReads() {}

    /** A command of a client has run, whose keys are still locked: if it only reads, the client may cache them. */
    static void remember(Tracker tracker, CommandSpec spec, Batch batch, int firstKey, int keys) {
        if (spec.has(CommandFlag.READONLY)) {
            for (int i = firstKey; i < firstKey + keys; i++) {
                tracker.hasRead(batch.key(i));
            }
        }
    }

    /** CLIENT CACHING is for one command, or for one transaction. */
    static void commandEnded(Client client, Tracker tracker, CommandSpec spec) {
        if (tracker.isCaching() && client.transaction() == null && !spec.fullName().startsWith("client|")) {
            tracker.caching(false);
        }
    }
}
