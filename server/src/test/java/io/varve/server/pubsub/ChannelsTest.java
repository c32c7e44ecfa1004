package io.varve.server.pubsub;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests subscriptions, their budget, and the delivery of messages. Confined to the test's thread. */
class ChannelsTest {
    private static final int NAMES_BYTES = 4096;
    private static final int MESSAGES_BYTES = 2048;

    private final Arena arena = Arena.ofConfined();
    private final RequestHeapBudget names = new RequestHeapBudget(NAMES_BYTES);
    private final RequestHeapBudget messages = new RequestHeapBudget(MESSAGES_BYTES);
    private final RequestHeapBudget lines = new RequestHeapBudget(1 << 20);
    private static final long MAX_RUN_BYTES = 400_000;

    private final Channels channels = new Channels(names, messages, () -> MAX_RUN_BYTES, lines);
    private final UndeliveredBytes undelivered = new UndeliveredBytes(messages, () -> MAX_RUN_BYTES);
    private final ReplyWriter reply = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT, new RequestHeapBudget(1 << 20));
    private final AtomicInteger wakeUps = new AtomicInteger();

    @AfterEach
    void close() {
        reply.close();
        arena.close();
    }

    private Subscriptions client() {
        return new Subscriptions(channels, wakeUps::incrementAndGet);
    }

    private MemorySegment bytes(String text) {
        byte[] latin1 = text.getBytes(StandardCharsets.ISO_8859_1);
        MemorySegment segment = arena.allocate(Math.max(1, latin1.length));
        MemorySegment.copy(latin1, 0, segment, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, latin1.length);
        return segment;
    }

    private Name name(String text) {
        return Name.at(bytes(text).address(), text.length());
    }

    private int publish(String channel, String text) {
        return publish(SubscriptionType.CHANNEL, channel, text);
    }

    /** A pattern here is what the channel begins with. */
    private int publish(SubscriptionType scope, String channel, String text) {
        Content content = Content.at(bytes(text).address(), text.length(), null);
        return channels.publish(scope, name(channel), content, pattern -> channel.startsWith(pattern.toString()));
    }

    private String written() {
        List<ByteBuf> pieces = new ArrayList<>();
        reply.take(pieces::add);
        StringBuilder text = new StringBuilder();
        for (ByteBuf piece : pieces) {
            text.append(piece.toString(StandardCharsets.ISO_8859_1));
            piece.release();
        }
        return text.toString().replace("\r\n", " ").strip();
    }

    private String mailOf(Subscriptions client) {
        client.beginDelivery();
        client.writeAll(reply);
        return written();
    }

    @Test
    void aNameThatPointsIsTheOneThatIsKept() {
        for (String text : List.of("", "a", "channel", "\u00ff\0\r\n")) {
            Name points = name(text);
            Name kept = name(text).copy();
            assertThat(kept).isEqualTo(points).hasSameHashCodeAs(points).isEqualByComparingTo(points);
            assertThat(points).isEqualTo(kept).isEqualTo(name(text));
            assertThat(points).isNotEqualTo(name(text + "b")).isNotEqualTo(name(text + "b").copy());
            assertThat(kept).hasToString(text);
        }
        assertThat(name("a")).isLessThan(name("b")).isLessThan(name("aa").copy());
    }

    @ParameterizedTest
    @EnumSource(SubscriptionType.class)
    void memoryChargedForNamesIsReleased(SubscriptionType scope) {
        Subscriptions one = client();
        Subscriptions two = client();
        assertThat(one.add(scope, name("news"))).isTrue();
        long once = names.reservedBytes();
        assertThat(one.add(scope, name("news"))).as("again").isTrue();
        assertThat(names.reservedBytes()).isEqualTo(once);
        assertThat(two.add(scope, name("news"))).isTrue();
        assertThat(names.reservedBytes()).as("the name is there already").isBetween(once + 1, 2 * once - 1);
        assertThat(channels.count(scope)).isOne();
        assertThat(channels.listeners(scope, name("news"))).isEqualTo(2);
        one.unsubscribe(scope, name("news"));
        one.remove(scope, name("news"));
        one.remove(scope, name("news"));
        assertThat(names.reservedBytes()).isEqualTo(once);
        two.end();
        assertThat(names.reservedBytes()).isZero();
        assertThat(channels.count(scope)).isZero();
        assertThat(one.isListening() || two.isListening()).isFalse();
    }

    @Test
    void aNameThatExceedsTheHeapBudgetLeavesNoTrace() {
        Subscriptions client = client();
        int count = 0;
        while (client.add(SubscriptionType.CHANNEL, name("name " + count))) {
            count++;
        }
        assertThat(count).isPositive();
        assertThat(channels.count(SubscriptionType.CHANNEL)).isEqualTo(count);
        assertThat(client.confirmedCount(SubscriptionType.CHANNEL)).isEqualTo(count);
        assertThat(client.add(SubscriptionType.CHANNEL, name("name 0"))).as("it listens to it").isTrue();
        client.clear();
        assertThat(names.reservedBytes()).isZero();
        assertThat(client.add(SubscriptionType.PATTERN, name("x".repeat(NAMES_BYTES)))).isFalse();
        assertThat(names.reservedBytes()).isZero();
    }

    @Test
    void everyoneGetsAMessageOncePerNameThatItIsFor() {
        Subscriptions one = client();
        Subscriptions two = client();
        assertThat(one.add(SubscriptionType.CHANNEL, name("news")) && one.add(SubscriptionType.PATTERN, name("ne"))
                && two.add(SubscriptionType.CHANNEL, name("news"))
                && two.add(SubscriptionType.SHARD_CHANNEL, name("news"))).isTrue();
        assertThat(publish("news", "hello")).isEqualTo(3);
        assertThat(publish("next", "you")).isOne();
        assertThat(publish("other", "nobody")).isZero();
        assertThat(publish(SubscriptionType.SHARD_CHANNEL, "news", "shard")).isOne();
        assertThat(channels.undeliveredBytes()).isPositive();
        assertThat(mailOf(one)).isEqualTo("*3 $7 message $4 news $5 hello *4 $8 pmessage $2 ne $4 news $5 hello"
                + " *4 $8 pmessage $2 ne $4 next $3 you");
        assertThat(mailOf(two)).isEqualTo("*3 $7 message $4 news $5 hello *3 $8 smessage $4 news $5 shard");
        assertThat(channels.undeliveredBytes()).isZero();
        assertThat(one.waitingBytes() + two.waitingBytes()).isZero();
    }

    @Test
    void theEventLoopIsWokenOncePerRead() {
        Subscriptions client = client();
        client.add(SubscriptionType.CHANNEL, name("c"));
        publish("c", "1");
        publish("c", "2");
        assertThat(wakeUps).hasValue(1);
        client.beginDelivery();
        assertThat(client.hasPendingMessages()).isTrue();
        publish("c", "3");
        assertThat(wakeUps).hasValue(2);
        assertThat(mailOf(client)).endsWith("$1 3");
        assertThat(client.hasPendingMessages()).isFalse();
    }

    @Test
    void messagesPublishedBeforeUnsubscribeAreDeliveredAndNoLaterOnes() {
        Subscriptions client = client();
        client.add(SubscriptionType.CHANNEL, name("c"));
        client.add(SubscriptionType.CHANNEL, name("d"));
        publish("c", "before");
        client.unsubscribe(SubscriptionType.CHANNEL, name("c"));
        assertThat(publish("c", "behind")).isZero();
        assertThat(mailOf(client)).isEqualTo("*3 $7 message $1 c $6 before");
        client.remove(SubscriptionType.CHANNEL, name("c"));
        assertThat(client.confirmedCount(SubscriptionType.CHANNEL)).isOne();
    }

    @Test
    void messagesInFlightAreDroppedAfterUnsubscribe() {
        Subscriptions client = client();
        client.add(SubscriptionType.CHANNEL, name("c"));
        client.add(SubscriptionType.CHANNEL, name("d"));
        publish("c", "1");
        publish("d", "2");
        publish("c", "3");
        client.unsubscribe(SubscriptionType.CHANNEL, name("c"));
        client.remove(SubscriptionType.CHANNEL, name("c"));
        assertThat(mailOf(client)).isEqualTo("*3 $7 message $1 d $1 2");
        assertThat(channels.undeliveredBytes()).isZero();
    }

    @Test
    void anUnsubscribedClientHoldsNoMessage() {
        Subscriptions leaves = client();
        Subscriptions stays = client();
        leaves.add(SubscriptionType.CHANNEL, name("c"));
        stays.add(SubscriptionType.CHANNEL, name("c"));
        assertThat(publish("c", "1")).isEqualTo(2);
        leaves.end();
        assertThat(leaves.waitingBytes()).isZero();
        assertThat(publish("c", "2")).isOne();
        assertThat(mailOf(stays)).isEqualTo("*3 $7 message $1 c $1 1 *3 $7 message $1 c $1 2");
        assertThat(channels.undeliveredBytes()).isZero();
    }

    @Test
    void aMessageToALeavingSubscriberIsReleased() {
        Inbox inbox = new Inbox();
        Subscribers to = new Subscribers(SubscriptionType.CHANNEL, name("c").copy());
        Content content = Content.at(bytes("1").address(), 1, null);
        Message message = java.util.Objects.requireNonNull(Message.of(name("c"), null, content, 2, undelivered));
        assertThat(inbox.put(new Delivery(message, to))).isTrue();
        inbox.close();
        assertThat(inbox.isEmpty()).isTrue();
        assertThat(messages.reservedBytes()).isPositive();
        assertThat(inbox.put(new Delivery(message, to))).isFalse();
        message.delivered();
        assertThat(messages.reservedBytes()).isZero();
    }

    /** Runs are charged to maxmemory and not to the heap: without a limit of their own they would take all of it. */
    @Test
    void publishersOfLargeMessagesWaitForDelivery() {
        try (Cache cache = Cache.open(CacheConfig.defaults(16 << 20).withShards(4))) {
            Subscriptions one = client();
            Subscriptions two = client();
            one.add(SubscriptionType.CHANNEL, name("c"));
            two.add(SubscriptionType.CHANNEL, name("c"));
            AtomicInteger woken = new AtomicInteger();
            for (int i = 0; i < 4; i++) {
                assertThat(channels.isBacklogged()).isFalse();
                publishRun(cache, 100_000);
            }
            assertThat(channels.isBacklogged()).isFalse();
            publishRun(cache, 100_000);
            assertThat(channels.isBacklogged()).isTrue();
            channels.onDelivered(woken::incrementAndGet);
            one.end();
            assertThat(woken).hasValue(0);
            two.end();
            assertThat(woken).hasValue(1);
            assertThat(channels.isBacklogged()).isFalse();
        }
    }

    private void publishRun(Cache cache, int length) {
        ValueRun run = java.util.Objects.requireNonNull(cache.newRun(64, length));
        assertThat(channels.publish(SubscriptionType.CHANNEL, name("c"), Content.at(run.address(), length, run),
                _ -> false))
                .isEqualTo(2);
        run.release();
    }

    @Test
    void noMessageIsDeliveredOverTheUndeliveredLimit() {
        Subscriptions one = client();
        Subscriptions two = client();
        one.add(SubscriptionType.CHANNEL, name("c"));
        two.add(SubscriptionType.CHANNEL, name("c"));
        int sent = 0;
        while (publish("c", "x".repeat(100)) != Channels.REFUSED) {
            sent++;
        }
        assertThat(sent).isPositive();
        assertThat(publish("nobody", "x".repeat(MESSAGES_BYTES))).isZero();
        for (Subscriptions client : List.of(one, two)) {
            assertThat(mailOf(client).split(" message ", -1)).hasSize(sent + 1);
        }
        assertThat(channels.undeliveredBytes()).isZero();
        assertThat(publish("c", "again")).isEqualTo(2);
    }

    /** No message is refused for a subscriber that is disconnected and not removed yet. */
    @Test
    void noMessageIsMadeForDisconnectedSubscribersOnly() {
        Subscriptions one = client();
        Subscriptions two = client();
        assertThat(one.add(SubscriptionType.CHANNEL, name("c")) && two.add(SubscriptionType.PATTERN, name("c")))
                .isTrue();
        one.disconnect();
        assertThat(publish("c", "two")).as("one is there").isOne();
        assertThat(mailOf(two)).endsWith("$3 two");
        two.disconnect();
        assertThat(publish("c", "x".repeat(MESSAGES_BYTES))).isZero();
        assertThat(publish("c", "nobody")).isZero();
        assertThat(messages.reservedBytes()).isZero();
        assertThat(mailOf(one)).isEmpty();
    }

    @Test
    void publishersWaitForSlowSubscribers() {
        Subscriptions client = client();
        client.add(SubscriptionType.CHANNEL, name("c"));
        AtomicInteger woken = new AtomicInteger();
        channels.onDelivered(woken::incrementAndGet);
        assertThat(woken).as("nothing is behind").hasValue(1);
        while (!channels.isBacklogged()) {
            assertThat(publish("c", "x".repeat(100))).isOne();
        }
        channels.onDelivered(woken::incrementAndGet);
        channels.onDelivered(woken::incrementAndGet);
        assertThat(client.writeNext(reply)).isTrue();
        assertThat(woken).as("most is still there").hasValue(1);
        assertThat(mailOf(client)).endsWith("x");
        assertThat(woken).hasValue(3);
        assertThat(channels.isBacklogged()).isFalse();
    }

    /** A writer without memory: what cannot be written stays, whole. */
    @Test
    void aMessageThatCannotBeWrittenStays() {
        Subscriptions client = client();
        client.add(SubscriptionType.CHANNEL, name("c"));
        publish("c", "stays");
        ReplyWriter refused = new ReplyWriter(new NoMemory(), new RequestHeapBudget(0));
        assertThatThrownBy(() -> client.writeAll(refused)).isInstanceOf(NoBufferException.class);
        assertThat(refused.isEmpty()).isTrue();
        assertThat(mailOf(client)).isEqualTo("*3 $7 message $1 c $5 stays");
    }

    /** Refuses every buffer. Immutable. */
    private static final class NoMemory extends io.netty.buffer.AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            throw NoBufferException.of(initialCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            throw NoBufferException.of(initialCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    /** Its event loop then checks for messages before each reply, so that no reply overtakes an earlier message. */
    @Test
    void redirectedMessagesSetExpectsMessages() {
        Subscriptions client = client();
        assertThat(client.expectsMessages()).isFalse();
        assertThat(client.deliver(new Note())).isTrue();
        assertThat(client.expectsMessages()).isTrue();
        assertThat(client.add(SubscriptionType.CHANNEL, name("a"))).isTrue();
        client.remove(SubscriptionType.CHANNEL, name("a"));
        client.tracks(false);
        assertThat(client.expectsMessages()).isTrue();
        client.end();
    }

    /** Mail that is not a message. Immutable. */
    private static final class Note implements OutboundMessage {
        @Override
        public long wireBytes() {
            return 0;
        }

        @Override
        public boolean isDeliverableTo(Subscriptions client) {
            return true;
        }

        @Override
        public void writeTo(ReplyWriter reply) {
            reply.ok();
        }

        @Override
        public void delivered() {
            // It is not counted.
        }
    }
}
