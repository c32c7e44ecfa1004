package io.varve.server.pubsub;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * What one client listens to, and the messages that wait for it. Confined to its event loop, but for what it tells in numbers, which
 * any thread may ask.
 *
 * <p>A subscription ends in two steps, so that what was published before it ended still comes: {@link #leave}, after which nothing
 * more is left for the client, and, once what is there has been written, {@link #remove}, after which what is on its way is dropped.
 */
public final class Subscriptions {
    /**
     * How many names it listens to. Immutable.
     *
     * @param channels      by name
     * @param patterns      patterns of names
     * @param shardChannels by name, of shard channels
     */
    public record Counts(int channels, int patterns, int shardChannels) {
        static final Counts NONE = new Counts(0, 0, 0);
    }

    private final Channels channels;
    private final Runnable mailCame;
    private final Map<Scope, Map<Name, Recipients>> byScope = new EnumMap<>(Scope.class);
    private volatile Counts counts = Counts.NONE;
    private volatile boolean listening;
    private volatile boolean tracking;
    private volatile boolean expectsMail;
    /** Whether it has had mail that it did not listen or track for: another client's, redirected to it. Guarded by this. */
    private boolean addressed;
    private volatile boolean takesPushes;
    private volatile boolean ended;
    /** There once it has listened to anything: most clients never do. */
    private volatile @Nullable Subscriber subscriber;
    private volatile boolean monitoring;

    /** @param mailCame tells the client's event loop that messages wait; run by any thread, which it must not hold up */
    public Subscriptions(Channels channels, Runnable mailCame) {
        this.channels = channels;
        this.mailCame = mailCame;
    }

    // --- what it listens to

    /**
     * Listens to a name.
     *
     * @return false if the heap has no room for it
     */
    public boolean add(Scope scope, Name name) {
        Map<Name, Recipients> mine = byScope.computeIfAbsent(scope, _ -> new LinkedHashMap<>());
        if (mine.containsKey(name)) {
            return true;
        }
        Recipients joined = channels.join(scope, name, subscriber());
        if (joined == null) {
            return false;
        }
        mine.put(joined.name(), joined);
        count();
        return true;
    }

    private Subscriber subscriber() {
        Subscriber mine = subscriber;
        return mine == null ? firstSubscriber() : mine;
    }

    /** Made by its event loop, or by whoever has the first mail for it. */
    private synchronized Subscriber firstSubscriber() {
        Subscriber mine = subscriber;
        if (mine == null) {
            mine = new Subscriber(mailCame);
            if (ended) {
                mine.inbox().close();
            }
            subscriber = mine;
        }
        return mine;
    }

    /**
     * Leaves mail for the client. Any thread.
     *
     * @return false if it has gone or is cut off: the mail is still the caller's
     */
    public boolean deliver(Mail mail) {
        if (!expectsMail) {
            // Before the mail is there: its loop looks for it before the next reply.
            addressed();
        }
        return subscriber().deliver(mail);
    }

    private synchronized void addressed() {
        addressed = true;
        expectsMail = true;
    }

    private synchronized void expectMail() {
        expectsMail = listening || tracking || addressed;
    }

    /** Nothing more is left for the client for the sake of this name, if it listens to it; what is there is still to be written. */
    public void leave(Scope scope, Name name) {
        Recipients joined = of(scope).get(name);
        if (joined != null) {
            channels.leave(joined, subscriber());
        }
    }

    /** Listens to a name no more that it has left. */
    public void remove(Scope scope, Name name) {
        Map<Name, Recipients> mine = byScope.get(scope);
        if (mine != null && mine.remove(name) != null) {
            channels.forget();
            count();
        }
    }

    /** Is told of every command from now on. */
    public void monitor() {
        if (!monitoring) {
            monitoring = true;
            channels.monitors().join(subscriber());
        }
    }

    /** Whether it is told of every command. */
    public boolean isMonitoring() {
        return monitoring;
    }

    /** Listens to nothing any more, and is told of no command. What waits for it is dropped when it would be written. */
    public void clear() {
        if (monitoring) {
            monitoring = false;
            channels.monitors().leave(subscriber());
        }
        for (Scope scope : Scope.values()) {
            for (Name name : names(scope)) {
                leave(scope, name);
                remove(scope, name);
            }
        }
    }

    /** No message reaches the client any more, not even one that waits. Any thread may say so. */
    public void cutOff() {
        Subscriber mine = subscriber;
        if (mine != null) {
            mine.cutOff();
        }
    }

    /** The client has left: nothing reaches it any more. */
    public void end() {
        clear();
        Subscriber mine;
        synchronized (this) {
            ended = true;
            mine = subscriber;
        }
        if (mine != null) {
            mine.inbox().close();
        }
    }

    /** What it listens to, in the order in which it began to: a copy. */
    public List<Name> names(Scope scope) {
        return new ArrayList<>(of(scope).keySet());
    }

    private Map<Name, Recipients> of(Scope scope) {
        return byScope.getOrDefault(scope, Map.of());
    }

    private void count() {
        Counts now = new Counts(of(Scope.CHANNEL).size(), of(Scope.PATTERN).size(), of(Scope.SHARD_CHANNEL).size());
        counts = now;
        listening = !now.equals(Counts.NONE);
        expectMail();
    }

    /** It is told of keys that it has cached, or not. */
    public void tracks(boolean value) {
        tracking = value;
        expectMail();
    }

    /** Whether it speaks a protocol in which what is pushed is told from replies. */
    public void takesPushes(boolean value) {
        takesPushes = value;
    }

    public boolean takesPushes() {
        return takesPushes;
    }

    /** Whether what was told before one of its commands runs is to be read before the reply. */
    public boolean expectsMail() {
        return expectsMail;
    }

    /** Whether it is one of these. Any thread may ask. */
    boolean isAmong(Set<Subscriber> subscribers) {
        Subscriber mine = subscriber;
        return mine != null && subscribers.contains(mine);
    }

    // --- numbers, for any thread

    /** How many names it listens to. */
    public Counts counts() {
        return counts;
    }

    /** The number that a confirmation tells: channels and patterns are counted together, shard channels alone. */
    public int told(Scope scope) {
        Counts now = counts;
        return scope == Scope.SHARD_CHANNEL ? now.shardChannels() : now.channels() + now.patterns();
    }

    /** Whether it listens to anything. */
    public boolean isListening() {
        return listening;
    }

    /** Bytes of messages that wait for it and have not been written, as they will be on the wire, about. */
    public long waitingBytes() {
        Subscriber mine = subscriber;
        return mine == null ? 0 : mine.inbox().bytes();
    }

    // --- its messages

    /** Whether messages wait. */
    public boolean hasMail() {
        Subscriber mine = subscriber;
        return mine != null && !mine.inbox().isEmpty();
    }

    /** Called before messages are written that were told of: of the next that comes the event loop is told again. */
    public void looksIntoMail() {
        Subscriber mine = subscriber;
        if (mine != null) {
            mine.inbox().looksInto();
        }
    }

    /**
     * Writes the next message; drops those in front of it that are for the sake of names it does not listen to any more.
     *
     * @return whether there was one
     * @throws NoBufferException if there is no memory for it: it stays, and nothing of it has been written
     */
    public boolean writeNext(ReplyWriter reply) {
        Subscriber mine = subscriber;
        if (mine == null) {
            return false;
        }
        Inbox inbox = mine.inbox();
        for (Mail next = inbox.first(); next != null; next = inbox.first()) {
            boolean wanted = !mine.isCutOff() && next.isWantedBy(this);
            if (wanted) {
                write(next, reply);
            }
            inbox.dropFirst();
            if (wanted) {
                return true;
            }
        }
        return false;
    }

    /** Whether it listens to the name for whose sake a letter came. */
    boolean isTo(Recipients to) {
        return of(to.scope()).containsKey(to.name());
    }

    private static void write(Mail letter, ReplyWriter reply) {
        long mark = reply.mark();
        try {
            letter.writeTo(reply);
        } catch (NoBufferException none) {
            reply.rollback(mark);
            throw none;
        }
    }

    /** Writes all messages, as {@link #writeNext} writes one. */
    public void writeAll(ReplyWriter reply) {
        boolean more = true;
        while (more) {
            more = writeNext(reply);
        }
    }
}
