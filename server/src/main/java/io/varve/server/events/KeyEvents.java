package io.varve.server.events;

import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Key;
import io.varve.server.config.EventClass;
import io.varve.server.config.EventSelection;
import io.varve.server.keys.HeapKey;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Content;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.SubscriptionType;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;

/**
 * Publishes key events as messages ({@code notify-keyspace-events}). Many threads: a volatile selection, a concurrent
 * queue, and a lock that is last in the lock order.
 *
 * <p>An event occurs under the lock of the key's shard, on any event loop or in maintenance, and is only queued there.
 * The thread that queued it calls {@link #publish} after it has released its locks. The call returns when all of the
 * thread's own events are published, possibly by another thread. So the events of one key are published in the order in
 * which they occurred, and those of a transaction in the order of its commands. All subscribers receive all events in
 * the same order.
 *
 * <p>No event is lost silently: if there is no memory for a message, its subscribers are disconnected.
 */
public final class KeyEvents implements ChangeListener {
    /** Heap bytes of a queued event, beside the key's bytes. */
    private static final int EVENT_HEAP_BYTES = 128;
    private static final String KEYSPACE = "__keyspace@";
    private static final String KEYEVENT = "__keyevent@";
    private static final String BEHIND_DATABASE = "__:";

    /** Disconnects clients that would miss a message of a subscription. */
    @FunctionalInterface
    public interface Severance {
        void disconnect(Predicate<Subscriptions> filter);
    }

    /**
     * A queued event. Immutable.
     *
     * @param what the event
     * @param key the key
     * @param toKeyspace whether the key's channel receives it
     * @param toKeyevent whether the event's channel receives it
     */
    private record Happened(KeyEvent what, HeapKey key, boolean toKeyspace, boolean toKeyevent) {
        long heapBytes() {
            return EVENT_HEAP_BYTES + HeapKey.heapBytes(key.name().length());
        }
    }

    private final Cache cache;
    private final Channels channels;
    private final BiPredicate<Name, byte[]> matcher;
    private final RequestHeapBudget memory;
    private final Severance severance;
    private final Queue<Happened> noted = new ConcurrentLinkedQueue<>();
    /** Bits of the selected classes: none if no channel is selected. */
    private volatile int selected;
    private volatile boolean toKeyspace;
    private volatile boolean toKeyevent;
    /** Whether an event was dropped for lack of memory. */
    private volatile boolean lost;
    /** Whether a thread is publishing queued events. */
    private volatile boolean publishing;
    private boolean listening;
    private volatile boolean hearing;

    /**
     * @param matcher whether a pattern matches a text; one thread at a time calls it
     * @param memory the budget of queued events
     * @param severance disconnects clients
     */
    public KeyEvents(Cache cache, Channels channels, BiPredicate<Name, byte[]> matcher, RequestHeapBudget memory,
            Severance severance) {
        this.cache = cache;
        this.channels = channels;
        this.matcher = matcher;
        this.memory = memory;
        this.severance = severance;
    }

    /** Selects the events to publish. */
    public synchronized void select(EventSelection selection) {
        int bits = 0;
        if (selection.isAny()) {
            for (EventClass each : selection.classes()) {
                bits |= each.bit();
            }
        }
        if (selected == 0) {
            // Drops events of threads that saw the event selected and queued it after the selection ended.
            dropNoted();
        }
        toKeyspace = selection.toKeyspace();
        toKeyevent = selection.toKeyevent();
        selected = bits;
        boolean listens = (bits & (KeyEvent.EXPIRED.bit() | KeyEvent.EVICTED.bit() | KeyEvent.NEW.bit()
                | KeyEvent.KEYMISS.bit() | KeyEvent.HEXPIRED.bit() | KeyEvent.DEL.bit())) != 0;
        boolean hears = (bits & KeyEvent.KEYMISS.bit()) != 0;
        if (listens != listening || hears != hearing) {
            if (listening) {
                cache.unsubscribe(this);
            }
            hearing = hears;
            listening = listens;
            if (listens) {
                cache.subscribe(this);
            }
        }
        publishAll();
    }

    /** Whether any event is published. */
    public boolean isOn() {
        return selected != 0;
    }

    // --- under the lock of the key's shard

    /** Queues an event of a key. */
    public void emit(KeyEvent what, Key key) {
        if ((selected & what.bit()) != 0) {
            note(what, key.database(), key.address(), key.length());
        }
    }

    /**
     * Queues the removal of an element from a collection.
     *
     * @param emptied whether it was the last element, so that the key was deleted
     */
    public void emitRemoval(KeyEvent what, Key key, boolean emptied) {
        emit(what, key);
        if (emptied) {
            emit(KeyEvent.DEL, key);
        }
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0) {
            return;
        }
        switch (change) {
            case EXPIRED -> emit(KeyEvent.EXPIRED, database, keyAddress, keyLength);
            case EVICTED -> emit(KeyEvent.EVICTED, database, keyAddress, keyLength);
            case FIELDS_EXPIRED -> emit(KeyEvent.HEXPIRED, database, keyAddress, keyLength);
            case EMPTIED -> {
                emit(KeyEvent.HEXPIRED, database, keyAddress, keyLength);
                emit(KeyEvent.DEL, database, keyAddress, keyLength);
            }
            // The commands that make these changes publish them, or none is published.
            case SET, INTERNAL, EXPIRY_SET, PERSISTED, DELETED, DEMOTED, DROPPED -> {
            }
        }
    }

    @Override
    public void created(int database, long keyAddress, int keyLength) {
        emit(KeyEvent.NEW, database, keyAddress, keyLength);
    }

    @Override
    public boolean hearsMisses() {
        return hearing;
    }

    @Override
    public void missed(int database, long keyAddress, int keyLength) {
        emit(KeyEvent.KEYMISS, database, keyAddress, keyLength);
    }

    private void emit(KeyEvent what, int database, long keyAddress, int keyLength) {
        if ((selected & what.bit()) != 0) {
            note(what, database, keyAddress, keyLength);
        }
    }

    /** Queues an event that was selected when it occurred, whatever is selected at this moment. */
    void note(KeyEvent what, int database, long address, int length) {
        if (!channels.hasSubscribers()) {
            return;
        }
        if (memory.tryReservePiece(EVENT_HEAP_BYTES + HeapKey.heapBytes(length))) {
            noted.add(new Happened(what, HeapKey.of(database, address, length), toKeyspace, toKeyevent));
        } else {
            lost = true;
        }
    }

    // --- called without shard locks, or where later events must not come first

    /** Publishes queued events, at least all that the calling thread has queued. */
    public void publish() {
        // ORDER: reads publishing last, which is set while events are out of the queue and not published yet.
        if (selected != 0 && (lost || !noted.isEmpty() || publishing)) {
            publishAll();
        }
    }

    private synchronized void publishAll() {
        publishing = true;
        try {
            publishNoted();
        } finally {
            publishing = false;
        }
    }

    private void publishNoted() {
        if (lost) {
            lost = false;
            severance.disconnect(channels.listenersTo(KeyEvents::canReceiveKeyEvents));
        }
        for (Happened next = noted.poll(); next != null; next = noted.poll()) {
            HeapKey key = next.key();
            try {
                if (next.toKeyspace()) {
                    publish(KEYSPACE + key.database() + BEHIND_DATABASE + key.name(),
                            next.what().text().getBytes(StandardCharsets.US_ASCII));
                }
                if (next.toKeyevent()) {
                    publish(KEYEVENT + key.database() + BEHIND_DATABASE + next.what().text(), key.bytes());
                }
            } finally {
                memory.release(next.heapBytes());
            }
        }
    }

    private void dropNoted() {
        lost = false;
        for (Happened next = noted.poll(); next != null; next = noted.poll()) {
            memory.release(next.heapBytes());
        }
    }

    private void publish(String channel, byte[] content) {
        byte[] text = channel.getBytes(StandardCharsets.ISO_8859_1);
        Name name = Name.of(text);
        Predicate<Name> matches = pattern -> canReceiveKeyEvents(SubscriptionType.PATTERN, pattern)
                && matcher.test(pattern, text);
        if (channels.publish(SubscriptionType.CHANNEL, name, Content.of(content), matches) == Channels.REFUSED) {
            severance.disconnect(channels.listenersTo((scope, listenedTo) -> scope == SubscriptionType.CHANNEL
                    ? listenedTo.equals(name)
                    : scope == SubscriptionType.PATTERN && matches.test(listenedTo)));
        }
    }

    /** Whether a name is such a channel, or a pattern may match one: most begin with another letter. */
    private static boolean canReceiveKeyEvents(SubscriptionType scope, Name name) {
        if (scope == SubscriptionType.SHARD_CHANNEL || name.length() == 0) {
            return false;
        }
        return switch (name.bytes()[0]) {
            case '_' -> true;
            case '*', '?', '[', '\\' -> scope == SubscriptionType.PATTERN;
            default -> false;
        };
    }
}
