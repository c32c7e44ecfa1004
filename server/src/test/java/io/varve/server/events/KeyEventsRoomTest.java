package io.varve.server.events;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheConfig;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.StubCache;
import io.varve.server.config.EventSelection;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Scope;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What becomes of those who listen where there is no room for what they should be told. Confined to the test's thread. */
class KeyEventsRoomTest {
    private static final int LONG_KEY_BYTES = 200_000;
    private static final int SHORT_KEY_BYTES = 50;

    private final Arena arena = Arena.ofConfined();
    private final Cache cache = StubCache.create(CacheConfig.defaults(1 << 20));
    private final ArgumentMemory memory = new ArgumentMemory(1 << 20);
    private final ArgumentMemory messages = new ArgumentMemory(1 << 16);
    private final Channels channels = new Channels(new ArgumentMemory(1 << 20), messages, () -> 1 << 20,
            new ArgumentMemory(1));
    private final Subscriptions all = new Subscriptions(channels, () -> {});
    private final Subscriptions deletions = new Subscriptions(channels, () -> {});
    private final Subscriptions news = new Subscriptions(channels, () -> {});
    private final List<Subscriptions> cutOff = new ArrayList<>();
    private final KeyEvents events = new KeyEvents(cache, channels, (pattern, _) -> pattern.bytes()[0] == '_', memory,
            who -> List.of(all, deletions, news).stream().filter(who).forEach(cutOff::add));

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
        all.add(Scope.PATTERN, name("__key*"));
        deletions.add(Scope.CHANNEL, name("__keyevent@0__:del"));
        news.add(Scope.PATTERN, name("news.*"));
        events.select(EventSelection.parse("Eg$"));
    }

    @Test
    void whoeverMayHaveMissedSomethingIsCutOff() {
        listen();
        events.tell(KeyEvent.SET, key(LONG_KEY_BYTES));
        events.publish();
        assertThat(cutOff).containsExactly(all, deletions);
        arena.close();
    }

    @Test
    void whoIsBehindIsCutOffAndNobodyElse() {
        listen();
        Key key = key(SHORT_KEY_BYTES);
        while (cutOff.isEmpty()) {
            events.tell(KeyEvent.SET, key);
            events.publish();
        }
        assertThat(cutOff).containsExactly(all);
        assertThat(memory.takenBytes()).as("what was noted").isZero();
        all.end();
        assertThat(messages.takenBytes()).as("what was published").isZero();
        arena.close();
    }

    /** Who is answered after its command has told something is not told before that by anybody: be it that another publishes it. */
    @Test
    void whatAnotherPublishesIsWaitedFor() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        KeyEvents slow = new KeyEvents(cache, channels, (_, _) -> {
            begun.countDown();
            await().until(() -> mayEnd.getCount() == 0);
            return true;
        }, memory, _ -> {});
        all.add(Scope.PATTERN, name("__key*"));
        slow.select(EventSelection.parse("E$"));
        slow.tell(KeyEvent.SET, key(SHORT_KEY_BYTES));
        Thread publisher = Thread.ofPlatform().start(slow::publish);
        begun.await();
        Thread waiting = Thread.ofPlatform().start(slow::publish);
        await().until(() -> waiting.getState() == Thread.State.BLOCKED);
        assertThat(all.hasMail()).isFalse();
        mayEnd.countDown();
        publisher.join();
        waiting.join();
        assertThat(all.hasMail()).isTrue();
        arena.close();
    }

    @Test
    void whereNobodyListensNothingIsNoted() {
        events.select(EventSelection.parse("KEA"));
        events.tell(KeyEvent.SET, key(LONG_KEY_BYTES));
        listen();
        events.publish();
        assertThat(cutOff).isEmpty();
        arena.close();
    }

    /** As by a thread that had found it selected and was held up. */
    @Test
    void whatIsNotedAfterNothingIsSelectedAnyMoreIsNotToldWhenSomethingIs() {
        listen();
        events.select(EventSelection.parse(""));
        Key late = key(SHORT_KEY_BYTES);
        events.note(KeyEvent.SET, late.database(), late.address(), late.length());
        Key tooLong = key(LONG_KEY_BYTES);
        events.note(KeyEvent.SET, tooLong.database(), tooLong.address(), tooLong.length());
        events.select(EventSelection.parse("Eg$"));
        events.publish();
        assertThat(all.hasMail()).isFalse();
        assertThat(cutOff).isEmpty();
        assertThat(memory.takenBytes()).isZero();
        events.tell(KeyEvent.SET, late);
        events.publish();
        assertThat(all.hasMail()).isTrue();
        all.end();
        arena.close();
    }
}
