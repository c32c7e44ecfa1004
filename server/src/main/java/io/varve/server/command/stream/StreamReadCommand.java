package io.varve.server.command.stream;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.blocking.Blocking.Taken;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.READONLY;

/** XREAD. Immutable: static handlers. */
final class StreamReadCommand {
    private StreamReadCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(StreamCommands.unkeyed("xread", -4,
                "Returns entries of several streams with greater IDs than given; can block until there are some")
                .halfBehind("STREAMS", 1, "RO access").keyFinder(StreamReadRequest::findKeys)
                .waitsForKeys(StreamReadRequest::findTimeout).flags(READONLY)
                .complexity("O(N) with N being the number of entries returned").handler(StreamReadCommand::read));
    }

    private static void read(CommandContext context) {
        if (Blocking.resume(context, context.keyCount())) {
            return;
        }
        Streams streams = Streams.of(context);
        StreamReadRequest request = streams.readRequest();
        if (!request.parse(context, false) || !checkStreams(context, streams, request)) {
            return;
        }
        ReplyWriter reply = context.reply();
        long mark = reply.beginDeferred();
        long replied = 0;
        for (int i = 0; i < request.streams(); i++) {
            StreamValue stream = streams.stream();
            Key key = context.keyAt(i);
            if (stream.open(context, key) == Found.PRESENT) {
                parseId(context, stream, request.idArgument(i), streams.id());
                replied += reply(context, key, stream, streams.id(), request.count()) ? 1 : 0;
            }
        }
        if (replied > 0) {
            if (reply.resp3()) {
                reply.endMap(mark, replied);
            } else {
                reply.endArray(mark, replied);
            }
        } else if (request.blockMillis() == StreamReadRequest.DOES_NOT_BLOCK) {
            reply.nilArray();
        } else {
            Blocking.await(context, ItemType.STREAM, request.streams(), waiter(context, streams, request)::take,
                    request.blockMillis());
        }
    }

    /** Checks types and IDs, or replies the first error. */
    private static boolean checkStreams(CommandContext context, Streams streams, StreamReadRequest request) {
        for (int i = 0; i < request.streams(); i++) {
            if (streams.stream().open(context, context.keyAt(i)) == Found.WRONG_TYPE
                    || !parseId(context, streams.stream(), request.idArgument(i), streams.id())) {
                return false;
            }
        }
        return true;
    }

    /** Parses the ID after which entries are read, or replies the error. */
    private static boolean parseId(CommandContext context, StreamValue stream, int argument, StreamId id) {
        long text = context.argumentAddress(argument);
        byte letter = context.argumentLength(argument) == 1 ? Memory.getByte(text) : 0;
        switch (letter) {
            case '$' -> id.set(stream.lastMs(), stream.lastSeq());
            case '+' -> {
                id.set(0, 0);
                if (stream.seekBack(StreamId.MAX, StreamId.MAX)) {
                    id.set(stream.entry().ms(), stream.entry().seq());
                    id.decrement();
                }
            }
            case '>' -> {
                context.reply().error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP"
                        + " <group> <consumer> option.");
                return false;
            }
            default -> {
                return id.requireStrictly(context, argument, 0);
            }
        }
        return true;
    }

    /** Replies the entries of one stream after an ID; false if there are none. */
    private static boolean reply(CommandContext context, Key key, StreamValue stream, StreamId after, long count) {
        StreamId from = after;
        if (!from.increment() || !stream.seek(from.ms(), from.seq())) {
            return false;
        }
        if (!context.reply().resp3()) {
            context.reply().array(2);
        }
        context.reply().bulk(key.address(), key.length());
        StreamReplies.range(context, stream, from.ms(), from.seq(), StreamId.MAX, StreamId.MAX, count);
        return true;
    }

    // --- waiting

    private static Waiter waiter(CommandContext context, Streams streams, StreamReadRequest request) {
        Waiter waiter = new Waiter(request.streams(), request.blockedCount());
        for (int i = 0; i < request.streams(); i++) {
            Key key = context.keyAt(i);
            streams.stream().peek(context, key);
            parseId(context, streams.stream(), request.idArgument(i), streams.id());
            waiter.keys[i] = HeapKey.of(key.database(), key.address(), key.length());
            waiter.ms[i] = streams.id().ms();
            waiter.seq[i] = streams.id().seq();
        }
        return waiter;
    }

    /** The wait of a client: keys, and IDs after which it reads. Immutable once it is filled. */
    private static final class Waiter {
        private final HeapKey[] keys;
        private final long[] ms;
        private final long[] seq;
        private final long count;

        Waiter(int streams, long count) {
            keys = new HeapKey[streams];
            ms = new long[streams];
            seq = new long[streams];
            this.count = count;
        }

        Taken take(CommandContext context, int keyIndex) {
            Streams streams = Streams.of(context);
            Key key = context.keyAt(keyIndex);
            Found found = streams.stream().peek(context, key);
            if (found != Found.PRESENT) {
                return found == Found.MISSING ? Taken.MISSING : Taken.WRONG_TYPE;
            }
            HeapKey name = HeapKey.of(key.database(), key.address(), key.length());
            int at = 0;
            while (!keys[at].equals(name)) {
                at++;
            }
            ReplyWriter reply = context.reply();
            long mark = reply.beginDeferred();
            streams.id().set(ms[at], seq[at]);
            if (!reply(context, key, streams.stream(), streams.id(), count)) {
                return Taken.NOT_YET;
            }
            if (reply.resp3()) {
                reply.endMap(mark, 1);
            } else {
                reply.endArray(mark, 1);
            }
            return Taken.SOME;
        }
    }
}
