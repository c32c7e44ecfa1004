package io.varve.server.tracking;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Change;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests tracking with little memory to remember keys or to send invalidations. Confined to the test's thread. */
class TrackingMemoryTest {
    private static final int KEYS = 400;
    private static final long LITTLE_BYTES = 40_000;
    private static final TrackingOptions PLAIN = new TrackingOptions(0, false, false, false, false, List.of());

    private final Arena arena = Arena.ofConfined();
    private final Cache cache = StubCache.create(CacheConfig.defaults(1 << 20));
    private final RequestHeapBudget memory = new RequestHeapBudget(LITTLE_BYTES);
    private final Channels channels = new Channels(new RequestHeapBudget(1 << 20), new RequestHeapBudget(1 << 20),
            () -> 1 << 20,
            new RequestHeapBudget(1));
    private final Map<Long, Subscriptions> clients = new HashMap<>();
    private final Tracking tracking = new Tracking(cache, memory, clients::get, 0);
    private final Subscriptions client = client();
    private final Tracker tracker = tracking.begin(client, PLAIN);
    /** The keys that the client believes to be current. */
    private final Set<String> known = new HashSet<>();

    private Subscriptions client() {
        Subscriptions made = new Subscriptions(channels, () -> {});
        made.supportsPushes(true);
        return made;
    }

    @AfterEach
    void nothingStays() {
        tracking.end(tracker);
        tracking.flushNotifications();
        tracking.maintain();
        client.end();
        assertThat(tracking.keyCount()).isZero();
        assertThat(tracking.itemCount()).isZero();
        assertThat(memory.reservedBytes()).isZero();
        arena.close();
    }

    private Key key(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        long address = arena.allocate(bytes.length).address();
        Memory.copy(bytes, 0, address, bytes.length);
        Key key = new Key();
        key.bind(address, bytes.length, 0, 0, 0);
        return key;
    }

    private void read(String name) {
        tracker.hasRead(key(name));
        known.add(name);
    }

    private void change(String name) {
        Key key = key(name);
        tracking.changed(Change.SET, 0, 0, 0, key.address(), key.length());
    }

    /** The client reads its mail. */
    private List<String> takeIn() {
        ReplyWriter reply = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT, RequestHeapBudget.ofHeapBeside(0));
        reply.protocol(3);
        client.beginDelivery();
        client.writeAll(reply);
        StringBuilder text = new StringBuilder();
        reply.take(piece -> text.append(text(piece)));
        reply.close();
        List<String> reported = new ArrayList<>();
        for (String push : text.toString().split(">2\r\n\\$10\r\ninvalidate\r\n")) {
            if (push.startsWith("_")) {
                reported.add("everything");
                known.clear();
            } else if (!push.isEmpty()) {
                String name = push.split("\r\n")[2];
                reported.add(name);
                known.remove(name);
            }
        }
        return reported;
    }

    private static String text(ByteBuf piece) {
        String text = piece.toString(StandardCharsets.US_ASCII);
        piece.release();
        return text;
    }

    @Test
    void keysThatDoNotFitTheTableAreInvalidatedAtOnce() {
        for (int i = 0; i < KEYS; i++) {
            read("key" + i);
            tracking.flushNotifications();
        }
        takeIn();
        assertThat(tracking.keyCount()).isPositive().isLessThan(KEYS);
        assertThat(known).as("all that is cached is remembered").hasSizeLessThanOrEqualTo((int) tracking.keyCount());
    }

    @Test
    void aKeyThatIsTooLongToBeRememberedIsInvalidAtOnce() {
        String name = "k".repeat(70_000);
        read(name);
        tracking.flushNotifications();
        takeIn();
        assertThat(known).isEmpty();
        assertThat(tracking.keyCount()).isZero();
    }

    @Test
    void slowReadersGetAFullInvalidation() {
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < KEYS / 4; i++) {
                read("key" + i);
                change("key" + i);
                tracking.flushNotifications();
            }
        }
        List<String> reported = takeIn();
        assertThat(known).isEmpty();
        assertThat(reported).contains("everything");
        assertThat(client.waitingBytes()).isZero();
    }

    @Test
    void pendingInvalidationsAreSentLater() {
        for (int i = 0; i < KEYS; i++) {
            read("key" + i);
            change("key" + i);
        }
        tracking.flushNotifications();
        takeIn();
        assertThat(known).isEmpty();
    }

    /** A change's invalidations are sent before its client gets the reply, even if another thread sends them. */
    @Test
    void sendWaitsForAnotherSender() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Tracking slow = new Tracking(cache, memory, _ -> {
            begun.countDown();
            await().until(() -> mayEnd.getCount() == 0);
            return client;
        }, 0);
        Tracker redirecting = slow.begin(client(), new TrackingOptions(7, false, false, false, false, List.of()));
        Key key = key("k");
        redirecting.hasRead(key);
        slow.changed(Change.SET, 0, 0, 0, key.address(), key.length());
        Thread sender = Thread.ofPlatform().start(slow::flushNotifications);
        begun.await();
        Thread waiting = Thread.ofPlatform().start(slow::flushNotifications);
        await().until(() -> waiting.getState() == Thread.State.BLOCKED);
        assertThat(client.hasPendingMessages()).isFalse();
        mayEnd.countDown();
        sender.join();
        waiting.join();
        assertThat(client.hasPendingMessages()).isTrue();
    }

    @Test
    void brokenRedirectionsAreReported() {
        Subscriptions other = client();
        clients.put(7L, other);
        tracking.change(tracker, new TrackingOptions(7, false, false, false, false, List.of()));
        read("one");
        change("one");
        tracking.flushNotifications();
        assertThat(other.hasPendingMessages()).isTrue();
        assertThat(client.hasPendingMessages()).isFalse();
        other.end();
        clients.clear();
        read("two");
        change("two");
        tracking.flushNotifications();
        assertThat(client.hasPendingMessages()).isTrue();
        assertThat(tracker.isRedirectionBroken()).isTrue();
    }

    @Test
    void untrackedKeysAreNotQueued() {
        TrackingOptions wishes = new TrackingOptions(0, true, false, false, false,
                List.of(name("user:"), name("session:")));
        Tracker broadcasting = tracking.begin(client, wishes);
        change("other");
        change("user");
        assertThat(memory.reservedBytes()).as("what was noted").isZero();
        change("user:1");
        assertThat(memory.reservedBytes()).isPositive();
        tracking.flushNotifications();
        assertThat(takeIn()).containsExactly("user:1");
        tracking.end(broadcasting);
    }

    private static Name name(String text) {
        return Name.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** As by CLIENT TRACKING ON and OFF in one pipeline. */
    @Test
    void anEndedTrackerIsNotRunning() {
        Tracker other = tracking.begin(client(), PLAIN);
        tracking.running(other);
        tracking.end(tracker);
        assertThat(Tracking.running()).isSameAs(other);
        tracking.end(other);
        assertThat(Tracking.running()).isNull();
    }
}
