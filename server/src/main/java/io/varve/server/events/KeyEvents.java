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
import io.varve.server.keys.NamedKey;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Content;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Scope;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.ArgumentMemory;

/**
 * What happens to keys and is told as messages ({@code notify-keyspace-events}). Many threads: a volatile selection, a concurrent queue,
 * and a lock that is taken last.
 *
 * <p>Something happens under the lock of its key's shard, on any event loop or in maintenance, and is only noted there, in a queue. Who
 * has noted something publishes what the queue has once it has let go of its locks ({@link #publish}), and is done when all of its own
 * has been published, be it by others. So all that happens to one key is told in the order in which it happened, what a transaction does
 * in the order of its commands, and everybody who listens is told everything in the same order.
 *
 * <p>Nothing is left out without a word: if there is no room for a message, those who would have got it are cut off.
 */
public final class KeyEvents implements ChangeListener {
    /** What is noted of something that happened, on the heap, beside the key's bytes. */
    private static final int EVENT_HEAP_BYTES = 128;
    private static final String KEYSPACE = "__keyspace@";
    private static final String KEYEVENT = "__keyevent@";
    private static final String BEHIND_DATABASE = "__:";

    /** Ends the connections of clients who would miss something that they listen to. */
    @FunctionalInterface
    public interface Severance {
        void cutOff(Predicate<Subscriptions> who);
    }

    /**
     * Something that happened. Immutable.
     *
     * @param what       happened
     * @param key        to which key
     * @param toKeyspace whether the key's channel is told
     * @param toKeyevent whether the channel of what happened is told
     */
    private record Happened(KeyEvent what, NamedKey key, boolean toKeyspace, boolean toKeyevent) {
        long heapBytes() {
            return EVENT_HEAP_BYTES + NamedKey.heapBytes(key.name().length());
        }
    }

    private final Cache cache;
    private final Channels channels;
    private final BiPredicate<Name, byte[]> matcher;
    private final ArgumentMemory memory;
    private final Severance severance;
    private final Queue<Happened> noted = new ConcurrentLinkedQueue<>();
    /** Bits of the classes that are told: none if no channel is. */
    private volatile int selected;
    private volatile boolean toKeyspace;
    private volatile boolean toKeyevent;
    /** Whether something happened for which there was no room. */
    private volatile boolean lost;
    /** Whether somebody publishes what the queue had. */
    private volatile boolean publishing;
    private boolean listening;

    /**
     * @param matcher   whether a pattern matches a text; asked by one thread at a time
     * @param memory    what is noted is charged to
     * @param severance cuts clients off
     */
    public KeyEvents(Cache cache, Channels channels, BiPredicate<Name, byte[]> matcher, ArgumentMemory memory,
            Severance severance) {
        this.cache = cache;
        this.channels = channels;
        this.matcher = matcher;
        this.memory = memory;
        this.severance = severance;
    }

    /** What is told from now on. */
    public synchronized void select(EventSelection selection) {
        int bits = 0;
        if (selection.isAny()) {
            for (EventClass each : selection.classes()) {
                bits |= each.bit();
            }
        }
        if (selected == 0) {
            // Noted by one who had found it selected and came to note it after it was not any more.
            dropNoted();
        }
        toKeyspace = selection.toKeyspace();
        toKeyevent = selection.toKeyevent();
        selected = bits;
        boolean listens = (bits & (KeyEvent.EXPIRED.bit() | KeyEvent.EVICTED.bit() | KeyEvent.NEW.bit()
                | KeyEvent.KEYMISS.bit() | KeyEvent.HEXPIRED.bit() | KeyEvent.DEL.bit())) != 0;
        if (listens != listening) {
            listening = listens;
            if (listens) {
                cache.subscribe(this);
            } else {
                cache.unsubscribe(this);
            }
        }
        publishAll();
    }

    /** Whether anything is told. */
    public boolean isOn() {
        return selected != 0;
    }

    // --- under the lock of the key's shard

    /** Something has happened to a key. */
    public void tell(KeyEvent what, Key key) {
        if ((selected & what.bit()) != 0) {
            note(what, key.database(), key.address(), key.length());
        }
    }

    /**
     * Something has been removed from a collection.
     *
     * @param emptied whether it was the last that it had, so that the key has gone
     */
    public void tellRemoval(KeyEvent what, Key key, boolean emptied) {
        tell(what, key);
        if (emptied) {
            tell(KeyEvent.DEL, key);
        }
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0) {
            return;
        }
        switch (change) {
            case EXPIRED -> tell(KeyEvent.EXPIRED, database, keyAddress, keyLength);
            case EVICTED -> tell(KeyEvent.EVICTED, database, keyAddress, keyLength);
            case FIELDS_EXPIRED -> tell(KeyEvent.HEXPIRED, database, keyAddress, keyLength);
            case EMPTIED -> {
                tell(KeyEvent.HEXPIRED, database, keyAddress, keyLength);
                tell(KeyEvent.DEL, database, keyAddress, keyLength);
            }
            // Told by the commands that do it.
            case SET, EXPIRY_SET, PERSISTED, DELETED, FELL -> {
            }
        }
    }

    @Override
    public void created(int database, long keyAddress, int keyLength) {
        tell(KeyEvent.NEW, database, keyAddress, keyLength);
    }

    @Override
    public void missed(int database, long keyAddress, int keyLength) {
        tell(KeyEvent.KEYMISS, database, keyAddress, keyLength);
    }

    private void tell(KeyEvent what, int database, long keyAddress, int keyLength) {
        if ((selected & what.bit()) != 0) {
            note(what, database, keyAddress, keyLength);
        }
    }

    /** What was found to be selected is noted, whatever is selected now. */
    void note(KeyEvent what, int database, long address, int length) {
        if (!channels.isAnyListenedTo()) {
            return;
        }
        if (memory.takePiece(EVENT_HEAP_BYTES + NamedKey.heapBytes(length))) {
            noted.add(new Happened(what, NamedKey.of(database, address, length), toKeyspace, toKeyevent));
        } else {
            lost = true;
        }
    }

    // --- without such locks, or where what comes next is not to come before

    /** Publishes what has been noted, all that the calling thread has noted at the least. */
    public void publish() {
        // ORDER: what was taken out of the queue and is not published yet shows in the last of these.
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
            severance.cutOff(channels.listenersTo(KeyEvents::mayHearOfKeys));
        }
        for (Happened next = noted.poll(); next != null; next = noted.poll()) {
            NamedKey key = next.key();
            try {
                if (next.toKeyspace()) {
                    publish(KEYSPACE + key.database() + BEHIND_DATABASE + key.name(),
                            next.what().text().getBytes(StandardCharsets.US_ASCII));
                }
                if (next.toKeyevent()) {
                    publish(KEYEVENT + key.database() + BEHIND_DATABASE + next.what().text(), key.bytes());
                }
            } finally {
                memory.give(next.heapBytes());
            }
        }
    }

    private void dropNoted() {
        lost = false;
        for (Happened next = noted.poll(); next != null; next = noted.poll()) {
            memory.give(next.heapBytes());
        }
    }

    private void publish(String channel, byte[] content) {
        byte[] text = channel.getBytes(StandardCharsets.ISO_8859_1);
        Name name = Name.of(text);
        Predicate<Name> matches = pattern -> mayHearOfKeys(Scope.PATTERN, pattern) && matcher.test(pattern, text);
        if (channels.publish(Scope.CHANNEL, name, Content.of(content), matches) == Channels.REFUSED) {
            severance.cutOff(channels.listenersTo((scope, listenedTo) -> scope == Scope.CHANNEL
                    ? listenedTo.equals(name)
                    : scope == Scope.PATTERN && matches.test(listenedTo)));
        }
    }

    /** Whether a name is, or a pattern may match, such a channel: most begin with another letter. */
    private static boolean mayHearOfKeys(Scope scope, Name name) {
        if (scope == Scope.SHARD_CHANNEL || name.length() == 0) {
            return false;
        }
        return switch (name.bytes()[0]) {
            case '_' -> true;
            case '*', '?', '[', '\\' -> scope == Scope.PATTERN;
            default -> false;
        };
    }
}
