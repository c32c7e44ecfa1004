package io.varve.server.command.stream.group;

import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.Streams;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;

/**
 * Records the changes of the selected group in the change stream, as commands that do the same again. Immutable: static
 * methods only.
 */
final class GroupChanges {
    private static final int CLAIM_ARGUMENTS = 14;
    private static final int ADVANCE_ARGUMENTS = 7;

    private GroupChanges() {}

    /** An entry became pending for the selected consumer. */
    static void claimed(CommandContext context, Key key, GroupRecords group, long ms, long seq, long delivered,
            long deliveries) {
        ChangeRecorder record = context.record(RecordedCommand.XCLAIM, key, CLAIM_ARGUMENTS)
                .argument(group.groupName(), group.groupNameLength())
                .argument(group.consumerName(), group.consumerNameLength()).argument(0);
        id(context, record, ms, seq);
        record.argument(RecordedCommand.TIME).argument(delivered).argument(RecordedCommand.RETRYCOUNT)
                .argument(deliveries).argument(RecordedCommand.FORCE).argument(RecordedCommand.JUSTID)
                .argument(RecordedCommand.LASTID);
        id(context, record, group.lastMs(), group.lastSeq());
        record.end();
    }

    /** An entry is not pending any more. */
    static void acknowledged(CommandContext context, Key key, GroupRecords group, long ms, long seq) {
        ChangeRecorder record = context.record(RecordedCommand.XACK, key, 4).argument(group.groupName(),
                group.groupNameLength());
        id(context, record, ms, seq);
        record.end();
    }

    /** The group's last ID or its count of entries has changed. */
    static void advanced(CommandContext context, Key key, GroupRecords group) {
        ChangeRecorder record = context.record(RecordedCommand.XGROUP, RecordedCommand.SETID, key, ADVANCE_ARGUMENTS)
                .argument(group.groupName(), group.groupNameLength());
        id(context, record, group.lastMs(), group.lastSeq());
        record.argument(RecordedCommand.ENTRIESREAD).argument(group.entriesRead()).end();
    }

    /** The selected consumer was created. */
    static void consumerCreated(CommandContext context, Key key, GroupRecords group) {
        context.record(RecordedCommand.XGROUP, RecordedCommand.CREATECONSUMER, key, 5)
                .argument(group.groupName(), group.groupNameLength())
                .argument(group.consumerName(), group.consumerNameLength()).end();
    }

    private static void id(CommandContext context, ChangeRecorder record, long ms, long seq) {
        long text = Streams.of(context).text();
        record.argument(text, StreamId.put(text, ms, seq));
    }
}
