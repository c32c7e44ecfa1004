package io.varve.server.command.stream.group;

import java.util.HashSet;
import java.util.Set;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.blocking.Blocking.Taken;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamReadRequest;
import io.varve.server.command.stream.StreamValue;
import io.varve.server.command.stream.Streams;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * XREADGROUP. Immutable: static handlers.
 *
 * <p>It replies the entries of all streams first, and then makes them pending, stream by stream. If memory is refused
 * behind the first stream, then the streams that are left get an empty reply, and their entries stay undelivered.
 */
final class GroupReadCommand {
    private static final int NOT_SERVED = -1;

    private GroupReadCommand() {}

    static void addTo(CommandTable.Builder table) {
        table.add(GroupCommands.describe("xreadgroup", -7,
                "Returns new or pending entries of several streams for a consumer; can block until there are some")
                .halfBehind("STREAMS", 4, "RO access").keyFinder(StreamReadRequest::findKeysBehindGroup)
                .waitsForKeys(StreamReadRequest::findTimeout).flags(WRITE).traits(CommandTrait.ALL_OR_NOTHING)
                .complexity("For each stream: O(M) with M being the number of entries returned")
                .handler(GroupReadCommand::read));
    }

    private static void read(CommandContext context) {
        if (Blocking.resume(context, context.keyCount())) {
            return;
        }
        StreamReadRequest request = Streams.of(context).readRequest();
        if (!request.parse(context, true)) {
            return;
        }
        context.withoutRecord();
        Reading reading = new Reading(context, request);
        if (!reading.check()) {
            return;
        }
        boolean isServed = request.streams() > 1 && hasRepeatedKeys(context)
                ? reading.serveInTurn()
                : reading.serveTogether();
        if (isServed) {
            return;
        }
        if (request.blockMillis() == StreamReadRequest.DOES_NOT_BLOCK) {
            context.reply().nilArray();
        } else {
            int group = request.groupArgument();
            Waiter waiter = new Waiter(Memory.toArray(context.argumentAddress(group), context.argumentLength(group)),
                    Memory.toArray(context.argumentAddress(group + 1), context.argumentLength(group + 1)),
                    request.blockedCount(), request.isNoAck());
            Blocking.awaitOrAbsent(context, ItemType.STREAM, request.streams(), waiter::take, request.blockMillis());
        }
    }

    private static boolean hasRepeatedKeys(CommandContext context) {
        Set<HeapKey> keys = new HashSet<>();
        for (int i = 0; i < context.keyCount(); i++) {
            Key key = context.keyAt(i);
            if (!keys.add(HeapKey.of(key.database(), key.address(), key.length()))) {
                return true;
            }
        }
        return false;
    }

    /** One command. Confined to its event loop. */
    private static final class Reading {
        private final CommandContext context;
        private final StreamReadRequest request;
        private final StreamValue stream;
        private final StreamId id;
        private final GroupRecords group;
        private final GroupDelivery delivery;
        /** By stream: the number of replied entries, or {@link #NOT_SERVED}. */
        private final long[] replied;
        /** By stream: where its reply begins. */
        private final long[] marks;
        /** The stream that is selected. */
        private int selected = NOT_SERVED;
        /** The stream in which the group was found last. */
        private int groupFoundIn = NOT_SERVED;

        Reading(CommandContext context, StreamReadRequest request) {
            this.context = context;
            this.request = request;
            stream = Streams.of(context).stream();
            id = Streams.of(context).id();
            group = Groups.of(context).records();
            delivery = Groups.of(context).delivery();
            replied = new long[request.streams()];
            marks = new long[request.streams()];
        }

        /** Checks types, groups and IDs, or replies the first error. */
        boolean check() {
            for (int i = 0; i < request.streams(); i++) {
                Found found = stream.open(context, context.keyAt(i));
                if (found == Found.WRONG_TYPE) {
                    return false;
                }
                if (found == Found.MISSING || !selectGroup(i)) {
                    GroupErrors.noKeyOrGroup(context, request.keyArgument(i), request.groupArgument(),
                            " in XREADGROUP with GROUP option");
                    return false;
                }
                if (!parseId(request.idArgument(i))) {
                    return false;
                }
            }
            return true;
        }

        private boolean selectGroup(int index) {
            int argument = request.groupArgument();
            groupFoundIn = index;
            group.open(stream);
            return group.selectGroup(context.argumentAddress(argument), context.argumentLength(argument));
        }

        /** Parses an ID, or replies the error; {@code >} is the largest. */
        private boolean parseId(int argument) {
            byte letter = context.argumentLength(argument) == 1 ? Memory.getByte(context.argumentAddress(argument)) : 0;
            if (letter == '>') {
                id.set(StreamId.MAX, StreamId.MAX);
                return true;
            }
            if (letter == '$') {
                context.reply().error("ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the"
                        + " history of this consumer by specifying a proper ID, or use the > ID to get new messages."
                        + " The $ ID would just return an empty result set.");
                return false;
            }
            return id.requireStrictly(context, argument, 0);
        }

        /** Selects the group, the consumer and the ID of a stream that was checked. */
        private void select(int index, boolean counts) {
            if (counts) {
                stream.open(context, context.keyAt(index));
            } else if (selected == index) {
                return;
            } else {
                stream.lookUp(context, context.keyAt(index));
            }
            selected = index;
            delivery.forget();
            if (groupFoundIn != index) {
                selectGroup(index);
            }
            int consumer = request.groupArgument() + 1;
            group.selectConsumer(context.argumentAddress(consumer), context.argumentLength(consumer));
            parseId(request.idArgument(index));
        }

        private boolean readsNew() {
            return (id.ms() & id.seq()) == StreamId.MAX;
        }

        private boolean isServed() {
            return !readsNew() || delivery.seekNew();
        }

        /** Replies all streams, and then changes all. @return whether anything was replied */
        boolean serveTogether() {
            int served = 0;
            for (int i = 0; i < replied.length; i++) {
                select(i, true);
                replied[i] = isServed() ? 0 : NOT_SERVED;
                served += replied[i] == NOT_SERVED ? 0 : 1;
            }
            ReplyWriter reply = context.reply();
            if (served > 0) {
                header(reply, served);
            }
            for (int i = 0; i < replied.length; i++) {
                if (replied[i] != NOT_SERVED) {
                    reply(i);
                }
            }
            for (int i = 0; i < replied.length; i++) {
                if (!change(i)) {
                    replyEmpty(i);
                    break;
                }
            }
            return served > 0;
        }

        /** Replies and changes one stream after the other, because a key is repeated. */
        boolean serveInTurn() {
            ReplyWriter reply = context.reply();
            long start = reply.beginDeferred();
            int served = 0;
            for (int i = 0; i < replied.length; i++) {
                select(i, true);
                replied[i] = NOT_SERVED;
                if (isServed()) {
                    served++;
                    reply(i);
                }
                if (!change(i) && replied[i] != NOT_SERVED) {
                    reply.rollback(marks[i]);
                    replyKey(i);
                    reply.array(0);
                }
            }
            if (served > 0 && reply.resp3()) {
                reply.endMap(start, served);
            } else if (served > 0) {
                reply.endArray(start, served);
            }
            return served > 0;
        }

        private void reply(int index) {
            select(index, false);
            marks[index] = context.reply().mark();
            replyKey(index);
            replied[index] = readsNew()
                    ? delivery.replyNew(request.count())
                    : delivery.replyPending(id, request.count());
        }

        private void replyKey(int index) {
            if (!context.reply().resp3()) {
                context.reply().array(2);
            }
            Key key = context.keyAt(index);
            context.reply().bulk(key.address(), key.length());
        }

        /** Makes the changes of one stream. @return false if memory was refused, after changes of others */
        private boolean change(int index) {
            select(index, false);
            Key key = context.keyAt(index);
            try {
                if (readsNew() || replied[index] == NOT_SERVED) {
                    delivery.deliver(key, Math.max(0, replied[index]), request.isNoAck());
                } else {
                    delivery.redeliver(key, id, replied[index]);
                }
            } catch (CacheFullException full) {
                if (index == 0) {
                    throw full;
                }
                return false;
            }
            context.countChanges(replied[index] == NOT_SERVED ? 0 : 1);
            return true;
        }

        /** Replaces the replies from a stream on, which could not be changed, with empty ones. */
        private void replyEmpty(int from) {
            boolean isFirst = true;
            for (int i = from; i < replied.length; i++) {
                if (replied[i] != NOT_SERVED) {
                    if (isFirst) {
                        context.reply().rollback(marks[i]);
                    }
                    isFirst = false;
                    replyKey(i);
                    context.reply().array(0);
                }
            }
        }
    }

    private static void header(ReplyWriter reply, int streams) {
        if (reply.resp3()) {
            reply.map(streams);
        } else {
            reply.array(streams);
        }
    }

    /** The wait of a blocked client. Immutable. */
    private static final class Waiter {
        private final byte[] group;
        private final byte[] consumer;
        private final long count;
        private final boolean noAck;

        Waiter(byte[] group, byte[] consumer, long count, boolean noAck) {
            this.group = group;
            this.consumer = consumer;
            this.count = count;
            this.noAck = noAck;
        }

        Taken take(CommandContext context, int keyIndex) {
            Key key = context.keyAt(keyIndex);
            StreamValue stream = Streams.of(context).stream();
            context.withoutRecord();
            if (stream.lookUp(context, key) != Found.PRESENT) {
                context.reply().error(GroupErrors.STREAM_IS_GONE);
                return Taken.REFUSED;
            }
            Groups groups = Groups.of(context);
            GroupRecords records = groups.records();
            records.open(stream);
            long names = groups.names(group, consumer);
            if (!records.selectGroup(names, group.length)) {
                context.reply().error(GroupErrors.GROUP_IS_GONE);
                return Taken.REFUSED;
            }
            if (!groups.delivery().seekNew()) {
                return Taken.NOT_YET;
            }
            records.selectConsumer(names + group.length, consumer.length);
            ReplyWriter reply = context.reply();
            header(reply, 1);
            if (!reply.resp3()) {
                reply.array(2);
            }
            reply.bulk(key.address(), key.length());
            long entries = groups.delivery().replyNew(count);
            groups.delivery().deliver(key, entries, noAck);
            context.countChanges(1);
            return Taken.SOME;
        }
    }
}
