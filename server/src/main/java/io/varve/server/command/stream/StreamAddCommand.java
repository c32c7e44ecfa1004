package io.varve.server.command.stream;

import io.varve.memory.collection.stream.StreamBlock;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** XADD. Immutable: static handlers. */
final class StreamAddCommand {
    private StreamAddCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(StreamCommands.stream("xadd", -5, "Appends an entry to a stream").access("RW update")
                .flags(WRITE, DENYOOM, FAST).tips("nondeterministic_output")
                .complexity("O(1) for the new entry, O(N) for trimming, with N being the number of deleted entries")
                .handler(StreamAddCommand::add));
    }

    private static void add(CommandContext context) {
        Streams streams = Streams.of(context);
        StreamTrimRequest request = streams.trimRequest();
        if (!request.parseForAdding(context)) {
            return;
        }
        int firstField = request.end() + 1;
        int rest = context.argumentCount() - firstField;
        if (rest < 2 || rest % 2 != 0) {
            context.wrongArgumentCount();
            return;
        }
        if (request.hasWholeId() && !request.id().isAfter(0, 0)) {
            context.reply().error("ERR The ID specified in XADD must be greater than 0-0");
            return;
        }
        StreamValue stream = streams.stream();
        Key key = context.keyAt(0);
        Found found = stream.openForWriting(context, key);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING && request.mayNotMakeStream()) {
            context.reply().nil();
            return;
        }
        StreamId id = streams.id();
        if (!chooseId(context, request, stream, id)) {
            return;
        }
        ArgumentFields fields = streams.fields().of(context, firstField);
        if (StreamBlock.payloadBytes(fields) > StreamBlock.MAX_PAYLOAD_BYTES) {
            context.reply().error("ERR Elements are too large to be stored");
            return;
        }
        stream.append(id.ms(), id.seq(), fields);
        stream.changed();
        context.events().emit(KeyEvent.XADD, key);
        context.countChanges(1);
        if (request.trims() && request.trim(stream) > 0) {
            context.events().emit(KeyEvent.XTRIM, key);
        }
        if (context.isRecording() && (!request.hasWholeId() || request.trims() && request.isApproximate())) {
            record(context, request, stream, id, firstField);
        }
        StreamReplies.id(context, id.ms(), id.seq());
    }

    /** Chooses the ID of the new entry, or replies the error. */
    private static boolean chooseId(CommandContext context, StreamTrimRequest request, StreamValue stream,
            StreamId id) {
        long lastMs = stream.lastMs();
        long lastSeq = stream.lastSeq();
        if (lastMs == StreamId.MAX && lastSeq == StreamId.MAX) {
            context.reply().error("ERR The stream has exhausted the last possible ID, unable to add more items");
            return false;
        }
        if (!request.hasId()) {
            id.set(context.now(), 0);
            if (Long.compareUnsigned(context.now(), lastMs) <= 0) {
                id.set(lastMs, lastSeq);
                id.increment();
            }
        } else {
            id.set(request.id().ms(), request.id().seq());
            if (!request.hasWholeId() && id.ms() == lastMs) {
                // The largest sequence number has none behind it: 0 is then too small.
                id.set(lastMs, lastSeq + 1);
            }
        }
        if (!id.isAfter(lastMs, lastSeq)) {
            context.reply()
                    .error("ERR The ID specified in XADD is equal or smaller than the target stream top item");
            return false;
        }
        return true;
    }

    /** Records the command with the ID and the trim that it has chosen. */
    private static void record(CommandContext context, StreamTrimRequest request, StreamValue stream, StreamId id,
            int firstField) {
        long text = Streams.of(context).text();
        int fields = context.argumentCount() - firstField;
        ChangeRecorder record = context.record(RecordedCommand.XADD, context.keyAt(0),
                3 + request.recordedArguments() + fields);
        request.record(record, stream, text);
        record.argument(text, StreamId.put(text, id.ms(), id.seq()));
        for (int i = firstField; i < context.argumentCount(); i++) {
            record.argument(context.argumentAddress(i), context.argumentLength(i));
        }
        record.end();
    }
}
