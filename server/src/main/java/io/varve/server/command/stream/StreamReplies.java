package io.varve.server.command.stream;

import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.collection.stream.Listpack;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.ReplyWriter;

/** Replies of entries and IDs. Immutable: static methods only. */
public final class StreamReplies {
    private StreamReplies() {}

    /** Replies an ID. */
    public static void id(CommandContext context, long ms, long seq) {
        long text = Streams.of(context).text();
        context.reply().bulk(text, StreamId.put(text, ms, seq));
    }

    /** Replies the cursor's entry: its ID, and its fields with their values. */
    public static void entry(CommandContext context, BlockCursor entry) {
        ReplyWriter reply = context.reply();
        reply.array(2);
        id(context, entry.ms(), entry.seq());
        reply.array(2L * entry.fields());
        while (entry.nextField()) {
            element(reply, entry.field());
            element(reply, entry.value());
        }
    }

    /** Replies an element of a listpack. */
    private static void element(ReplyWriter reply, long element) {
        if (Listpack.isInteger(element)) {
            reply.bulkLong(Listpack.integer(element));
        } else {
            reply.bulk(Listpack.textAddress(element), Listpack.textLength(element));
        }
    }

    /**
     * Replies an array of the entries from one ID to another, both included.
     *
     * @param count the most entries, 0 for all
     */
    public static void range(CommandContext context, StreamValue stream, long fromMs, long fromSeq, long toMs,
            long toSeq, long count) {
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long replied = 0;
        boolean more = stream.seek(fromMs, fromSeq);
        while (more && (count == 0 || replied < count)) {
            BlockCursor entry = stream.entry();
            if (StreamId.compare(entry.ms(), entry.seq(), toMs, toSeq) > 0) {
                break;
            }
            entry(context, entry);
            replied++;
            more = stream.next();
        }
        reply.endArray(mark, replied);
    }

    /** As {@link #range}, from the last entry to the first. */
    static void reverseRange(CommandContext context, StreamValue stream, StreamId from, StreamId to, long count) {
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long replied = 0;
        boolean more = stream.seekBack(to.ms(), to.seq());
        while (more && (count == 0 || replied < count)) {
            BlockCursor entry = stream.entry();
            if (from.isAfter(entry.ms(), entry.seq())) {
                break;
            }
            entry(context, entry);
            replied++;
            more = stream.previous();
        }
        reply.endArray(mark, replied);
    }
}
