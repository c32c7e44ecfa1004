package io.varve.proxy.map;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.proxy.resp.Reply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the members of a cluster for their map with CLUSTER SLOTS: periodically, and after redirections. One thread
 * asks; any thread may request it. Guarded by {@code this}.
 *
 * <p>If members may be plain servers, the first member that answers decides. If it knows no cluster, the map is that of
 * {@link StaticMapSource} from then on.
 */
public final class MembersMapSource implements MapSource {
    private static final Logger LOG = LoggerFactory.getLogger(MembersMapSource.class);
    /** Minimum time between two rounds. */
    private static final int MIN_PAUSE_MILLIS = 100;
    private static final String NO_CLUSTER = "cluster support disabled";
    private static final String NO_COMMAND = "ERR unknown command";

    private final List<SeedMember> seeds;
    private final boolean mayBePlain;
    private final MemberCredentials credentials;
    private final int periodMillis;
    private final int timeoutMillis;
    private final Thread thread = new Thread(this::run, "varve-proxy-map");
    private @Nullable Endpoint hint;
    private boolean requested = true;
    private boolean closed;

    /** Confined to the thread. */
    private SlotMap map = SlotMap.EMPTY;
    private @Nullable Reply lastReply;
    private boolean isReachable = true;

    /**
     * @param seeds the members to ask first
     * @param mayBePlain whether the members may be servers without a cluster
     * @param periodMillis time after which it asks without a request
     * @param timeoutMillis for a connection and a reply
     */
    public MembersMapSource(List<SeedMember> seeds, boolean mayBePlain, MemberCredentials credentials,
            int periodMillis, int timeoutMillis) {
        this.seeds = seeds;
        this.mayBePlain = mayBePlain;
        this.credentials = credentials;
        this.periodMillis = periodMillis;
        this.timeoutMillis = timeoutMillis;
        thread.setDaemon(true);
    }

    private volatile Listener listener = _ -> {};

    @Override
    public void start(Listener receiver) {
        listener = receiver;
        thread.start();
    }

    @Override
    public synchronized void refresh(@Nullable Endpoint from) {
        if (from != null) {
            hint = from;
        }
        requested = true;
        notifyAll();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.interrupt();
    }

    private void run() {
        try {
            while (awaitRequest()) {
                if (!ask()) {
                    return;
                }
                TimeUnit.MILLISECONDS.sleep(MIN_PAUSE_MILLIS);
            }
        } catch (InterruptedException _) {
            LOG.debug("The slot map is not followed any more");
        }
    }

    /** @return false once closed */
    private synchronized boolean awaitRequest() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMillis);
        while (!requested && !closed) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        requested = false;
        return !closed;
    }

    private synchronized @Nullable Endpoint takeHint() {
        Endpoint taken = hint;
        hint = null;
        return taken;
    }

    /** The members in the order in which they are asked: who redirected, who is known, who is configured. */
    private List<Endpoint> candidates() {
        Set<Endpoint> ordered = new LinkedHashSet<>();
        Endpoint first = takeHint();
        if (first != null) {
            ordered.add(first);
        }
        List<Endpoint> known = new ArrayList<>();
        for (Member member : map.members()) {
            known.add(new Endpoint(member.host(), member.port()));
        }
        java.util.Collections.shuffle(known);
        ordered.addAll(known);
        seeds.forEach(seed -> ordered.add(seed.endpoint()));
        return List.copyOf(ordered);
    }

    /** @return whether the map may change again */
    private boolean ask() throws InterruptedException {
        StringBuilder failures = new StringBuilder();
        for (Endpoint candidate : candidates()) {
            try {
                Reply slots = slots(candidate);
                isReachable = true;
                return accept(slots, candidate);
            } catch (IOException | IllegalArgumentException failed) {
                failures.append("; ").append(candidate).append(": ").append(failed.getMessage());
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        if (isReachable) {
            LOG.warn("No member reports the slot map{}", failures);
        }
        isReachable = false;
        synchronized (this) {
            // Before the first map nothing can be served, so it asks again at once.
            requested |= map.members().isEmpty();
        }
        return true;
    }

    private Reply slots(Endpoint member) throws IOException {
        try (BlockingConnection connection = new BlockingConnection(member, timeoutMillis)) {
            connection.authenticate(credentials);
            Reply reply = connection.call("CLUSTER", "SLOTS");
            if (reply.isError() && !isPlain(reply)) {
                throw new IOException(reply.textOrEmpty());
            }
            return reply;
        }
    }

    private boolean isPlain(Reply reply) {
        return mayBePlain && reply.isError()
                && (reply.textOrEmpty().contains(NO_CLUSTER) || reply.textOrEmpty().startsWith(NO_COMMAND));
    }

    private boolean accept(Reply slots, Endpoint reporter) {
        if (isPlain(slots)) {
            LOG.info("Member {} knows no cluster: the members of the settings share the slots", reporter);
            listener.changed(StaticMapSource.table(seeds));
            return false;
        }
        if (!slots.equals(lastReply)) {
            SlotMap changed = ClusterSlots.read(slots, reporter, map.epoch() + 1);
            if (changed.members().isEmpty()) {
                throw new IllegalArgumentException("it serves no slot");
            }
            map = changed;
            lastReply = slots;
            LOG.info("Slot map {} of {}: {} members, {} slots", map.epoch(), reporter, map.members().size(),
                    map.assignedSlots());
            listener.changed(new SlotTable(map, true));
        }
        return true;
    }
}
