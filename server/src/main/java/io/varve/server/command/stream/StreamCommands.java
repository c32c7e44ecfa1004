package io.varve.server.command.stream;

import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Stream commands that look up, delete and trim entries. Immutable: static handlers.
 *
 * @see StreamAddCommand
 * @see StreamReadCommand
 */
public final class StreamCommands {
    private static final String GROUP = "stream";

    private StreamCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        StreamAddCommand.addTo(table);
        table.add(stream("xlen", 2, "Returns the number of entries of a stream").access("RO").flags(READONLY, FAST)
                .handler(StreamCommands::len));
        table.add(stream("xrange", -4, "Returns the entries in a range of IDs").access("RO access").flags(READONLY)
                .complexity("O(N) with N being the number of entries returned")
                .handler(context -> range(context, 2, 3)));
        table.add(stream("xrevrange", -4, "Returns the entries in a range of IDs, in reverse order")
                .access("RO access").flags(READONLY).complexity("O(N) with N being the number of entries returned")
                .handler(context -> range(context, 3, 2)));
        StreamReadCommand.addTo(table);
        table.add(stream("xdel", -3, "Deletes entries by their IDs").access("RW delete").flags(WRITE, FAST)
                .complexity("O(1) for each entry").handler(StreamCommands::del));
        table.add(stream("xtrim", -4, "Deletes entries from the start of a stream").access("RW delete").flags(WRITE)
                .tips("nondeterministic_output").since("5.0.0")
                .complexity("O(N), with N being the number of deleted entries").handler(StreamCommands::trim));
        table.add(stream("xsetid", -3, "Sets the last ID of a stream, for replication").access("RW update")
                .flags(WRITE, DENYOOM, FAST).handler(StreamCommands::setId));
    }

    /** Describes a command of this family with one key. */
    static CommandBuilder stream(String name, int arity, String summary) {
        return unkeyed(name, arity, summary).key(1);
    }

    /** Describes a command of this family. */
    static CommandBuilder unkeyed(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group(GROUP).since("5.0.0").categories("@stream")
                .summary(summary);
    }

    private static void len(CommandContext context) {
        StreamValue stream = Streams.of(context).stream();
        if (stream.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            context.reply().integer(stream.length());
        }
    }

    // --- ranges

    /**
     * XRANGE and XREVRANGE.
     *
     * @param from the argument with the smaller ID
     */
    private static void range(CommandContext context, int from, int to) {
        Streams streams = Streams.of(context);
        StreamId first = streams.id();
        StreamId last = streams.otherId();
        if (!bound(context, first, from, true) || !bound(context, last, to, false)) {
            return;
        }
        long count = -1;
        for (int i = 4; i < context.argumentCount(); i += 2) {
            if (!context.argumentIs(i, "COUNT") || i + 1 == context.argumentCount()) {
                context.syntaxError();
                return;
            }
            if (!context.requireLong(i + 1)) {
                return;
            }
            count = Math.max(0, context.longValue());
        }
        StreamValue stream = streams.stream();
        Found found = stream.open(context, context.keyAt(0));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            context.reply().array(0);
        } else if (count == 0) {
            context.reply().nilArray();
        } else if (from < to) {
            StreamReplies.range(context, stream, first.ms(), first.seq(), last.ms(), last.seq(), Math.max(0, count));
        } else {
            StreamReplies.reverseRange(context, stream, first, last, Math.max(0, count));
        }
    }

    /** Parses an end of a range, or replies the error. */
    public static boolean bound(CommandContext context, StreamId id, int argument, boolean isStart) {
        long text = context.argumentAddress(argument);
        int length = context.argumentLength(argument);
        boolean isExclusive = length > 1 && Memory.getByte(text) == '(';
        long missingSeq = isStart ? 0 : StreamId.MAX;
        if (!(isExclusive ? id.parseStrictly(text + 1, length - 1, missingSeq) : id.parse(text, length, missingSeq))) {
            context.reply().error(StreamId.INVALID);
            return false;
        }
        if (isExclusive && !(isStart ? id.increment() : id.decrement())) {
            context.reply().error("ERR invalid " + (isStart ? "start" : "end") + " ID for the interval");
            return false;
        }
        return true;
    }

    // --- deletions

    private static void del(CommandContext context) {
        Streams streams = Streams.of(context);
        StreamValue stream = streams.stream();
        StreamId id = streams.id();
        Found found = stream.openForWriting(context, context.keyAt(0));
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().integer(0);
            }
            return;
        }
        for (int i = 2; i < context.argumentCount(); i++) {
            if (!id.requireStrictly(context, i, 0)) {
                return;
            }
        }
        stream.prepare();
        long deleted = 0;
        boolean wasFirst = false;
        for (int i = 2; i < context.argumentCount(); i++) {
            id.parseStrictly(context.argumentAddress(i), context.argumentLength(i), 0);
            if (stream.find(id.ms(), id.seq())) {
                stream.delete();
                long metadata = stream.metadata();
                wasFirst |= id.ms() == StreamMetadataLayout.firstMs(metadata)
                        && id.seq() == StreamMetadataLayout.firstSeq(metadata);
                if (id.isAfter(StreamMetadataLayout.maxDeletedMs(metadata),
                        StreamMetadataLayout.maxDeletedSeq(metadata))) {
                    StreamMetadataLayout.maxDeletedId(metadata, id.ms(), id.seq());
                }
                deleted++;
            }
        }
        if (deleted > 0) {
            if (wasFirst || stream.length() == 0) {
                stream.renewFirstId();
            }
            stream.changed();
            context.events().emit(KeyEvent.XDEL, context.keyAt(0));
            context.countChanges(deleted);
        }
        context.reply().integer(deleted);
    }

    private static void trim(CommandContext context) {
        Streams streams = Streams.of(context);
        StreamTrimRequest request = streams.trimRequest();
        if (!request.parse(context)) {
            return;
        }
        StreamValue stream = streams.stream();
        Key key = context.keyAt(0);
        Found found = stream.openForWriting(context, key);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().integer(0);
            }
            return;
        }
        stream.prepare();
        long deleted = request.trim(stream);
        if (deleted > 0) {
            stream.changed();
            context.events().emit(KeyEvent.XTRIM, key);
            context.countChanges(deleted);
            if (request.isApproximate() && context.isRecording()) {
                request.record(context, key, stream, streams.text());
            }
        }
        context.reply().integer(deleted);
    }

    // --- XSETID

    private static void setId(CommandContext context) {
        Streams streams = Streams.of(context);
        StreamId id = streams.id();
        StreamId deleted = streams.otherId();
        deleted.set(0, 0);
        long added = -1;
        if (!id.requireStrictly(context, 2, 0)) {
            return;
        }
        for (int i = 3; i < context.argumentCount(); i += 2) {
            boolean more = i + 1 < context.argumentCount();
            if (more && context.argumentIs(i, "ENTRIESADDED")) {
                if (!context.requireLong(i + 1)) {
                    return;
                }
                added = context.longValue();
                if (added < 0) {
                    context.reply().error("ERR entries_added must be positive");
                    return;
                }
            } else if (more && context.argumentIs(i, "MAXDELETEDID")) {
                if (!deleted.requireStrictly(context, i + 1, 0)) {
                    return;
                }
                if (deleted.isAfter(id.ms(), id.seq())) {
                    context.reply()
                            .error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
                    return;
                }
            } else {
                context.syntaxError();
                return;
            }
        }
        setId(context, streams.stream(), id, deleted, added);
    }

    private static void setId(CommandContext context, StreamValue stream, StreamId id, StreamId deleted, long added) {
        Found found = stream.openForWriting(context, context.keyAt(0));
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().error("ERR no such key");
            }
            return;
        }
        if (stream.seekBack(StreamId.MAX, StreamId.MAX)) {
            BlockCursor last = stream.entry();
            if (StreamId.compare(id.ms(), id.seq(), last.ms(), last.seq()) < 0) {
                context.reply().error("ERR The ID specified in XSETID is smaller than the target stream top item");
                return;
            }
            if (added >= 0 && stream.length() > added) {
                context.reply()
                        .error("ERR The entries_added specified in XSETID is smaller than the target stream length");
                return;
            }
        }
        stream.prepare();
        long metadata = stream.metadata();
        StreamMetadataLayout.lastId(metadata, id.ms(), id.seq());
        if (added >= 0) {
            StreamMetadataLayout.added(metadata, added);
        }
        if (deleted.isAfter(0, 0)) {
            StreamMetadataLayout.maxDeletedId(metadata, deleted.ms(), deleted.seq());
        }
        stream.internalsChanged();
        context.events().emit(KeyEvent.XSETID, context.keyAt(0));
        context.countChanges(1);
        context.reply().ok();
    }
}
