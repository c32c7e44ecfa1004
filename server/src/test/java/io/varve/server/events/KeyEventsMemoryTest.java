package io.varve.server.events;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.config.EventSelection;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.SubscriptionType;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests subscribers for whose notifications there is no memory. Confined to the test's thread. */
class KeyEventsMemoryTest {
    private static final int LONG_KEY_BYTES = 200_000;
    private static final int SHORT_KEY_BYTES = 50;

    private final Arena arena = Arena.ofConfined();
    private final Cache cache = StubCache.create(CacheConfig.defaults(1 << 20));
    private final RequestHeapBudget memory = new RequestHeapBudget(1 << 20);
    private final RequestHeapBudget messages = new RequestHeapBudget(1 << 16);
    private final Channels channels = new Channels(new RequestHeapBudget(1 << 20), messages, () -> 1 << 20,
            new RequestHeapBudget(1));
    private final Subscriptions all = new Subscriptions(channels, () -> {});
    private final Subscriptions deletions = new Subscriptions(channels, () -> {});
    private final Subscriptions news = new Subscriptions(channels, () -> {});
    private final List<Subscriptions> disconnected = new ArrayList<>();
    private final KeyEvents events = new KeyEvents(cache, channels, (pattern, _) -> pattern.bytes()[0] == '_', memory,
            who -> List.of(all, deletions, news).stream().filter(who).forEach(disconnected::add));

    private static Name name(String text) {
        return Name.of(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private Key key(int length) {
        Key key = new Key();
        long address = arena.allocate(length).address();
        Memory.fill(address, length, (byte) 'k');
        key.bind(address, length, 0, 0, 0);
        return key;
    }

    private void listen() {
        all.add(SubscriptionType.PATTERN, name("__key*"));
        deletions.add(SubscriptionType.CHANNEL, name("__keyevent@0__:del"));
        news.add(SubscriptionType.PATTERN, name("news.*"));
        events.select(EventSelection.parse("Eg$"));
    }

    @Test
    void subscribersThatMayHaveMissedEventsAreDisconnected() {
        listen();
        events.emit(KeyEvent.SET, key(LONG_KEY_BYTES));
        events.publish();
        assertThat(disconnected).containsExactly(all, deletions);
        arena.close();
    }

    @Test
    void onlySlowSubscribersAreDisconnected() {
        listen();
        Key key = key(SHORT_KEY_BYTES);
        while (disconnected.isEmpty()) {
            events.emit(KeyEvent.SET, key);
            events.publish();
        }
        assertThat(disconnected).containsExactly(all);
        assertThat(memory.reservedBytes()).as("what was noted").isZero();
        all.end();
        assertThat(messages.reservedBytes()).as("what was published").isZero();
        arena.close();
    }

    /** A command's events are published before its client gets the reply, even if another thread publishes them. */
    @Test
    void publishWaitsForAnotherPublisher() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        KeyEvents slow = new KeyEvents(cache, channels, (_, _) -> {
            begun.countDown();
            await().until(() -> mayEnd.getCount() == 0);
            return true;
        }, memory, _ -> {});
        all.add(SubscriptionType.PATTERN, name("__key*"));
        slow.select(EventSelection.parse("E$"));
        slow.emit(KeyEvent.SET, key(SHORT_KEY_BYTES));
        Thread publisher = Thread.ofPlatform().start(slow::publish);
        begun.await();
        Thread waiting = Thread.ofPlatform().start(slow::publish);
        await().until(() -> waiting.getState() == Thread.State.BLOCKED);
        assertThat(all.hasPendingMessages()).isFalse();
        mayEnd.countDown();
        publisher.join();
        waiting.join();
        assertThat(all.hasPendingMessages()).isTrue();
        arena.close();
    }

    @Test
    void withoutSubscribersNoEventIsQueued() {
        events.select(EventSelection.parse("KEA"));
        events.emit(KeyEvent.SET, key(LONG_KEY_BYTES));
        listen();
        events.publish();
        assertThat(disconnected).isEmpty();
        arena.close();
    }

    /** As by a thread that had found it selected and was held up. */
    @Test
    void eventsQueuedWithoutASelectionAreNeverPublished() {
        listen();
        events.select(EventSelection.parse(""));
        Key late = key(SHORT_KEY_BYTES);
        events.note(KeyEvent.SET, late.database(), late.address(), late.length());
        Key tooLong = key(LONG_KEY_BYTES);
        events.note(KeyEvent.SET, tooLong.database(), tooLong.address(), tooLong.length());
        events.select(EventSelection.parse("Eg$"));
        events.publish();
        assertThat(all.hasPendingMessages()).isFalse();
        assertThat(disconnected).isEmpty();
        assertThat(memory.reservedBytes()).isZero();
        events.emit(KeyEvent.SET, late);
        events.publish();
        assertThat(all.hasPendingMessages()).isTrue();
        all.end();
        arena.close();
    }
}
