package io.varve.proxy.map;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.proxy.resp.Reply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the members of a cluster for their map with CLUSTER SLOTS: periodically, and after redirections. Thread-safe:
 * the thread of a {@link MapPoller} asks; any thread may request it.
 *
 * <p>If members may be plain servers, the first member that answers decides. If it knows no cluster, the map is that of
 * {@link StaticMapSource} from then on.
 */
public final class MembersMapSource implements MapSource {
    private static final Logger LOG = LoggerFactory.getLogger(MembersMapSource.class);
    private static final String NO_CLUSTER = "cluster support disabled";
    private static final String NO_COMMAND = "ERR unknown command";

    private final List<SeedMember> seeds;
    private final boolean mayBePlain;
    private final MemberCredentials credentials;
    private final int timeoutMillis;
    private final MapPoller poller;
    private final AtomicReference<@Nullable Endpoint> hint = new AtomicReference<>();
    private volatile Listener listener = _ -> {};

    // Confined to the thread of the poller.
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
        this.timeoutMillis = timeoutMillis;
        poller = new MapPoller(periodMillis, this::ask);
    }

    @Override
    public void start(Listener receiver) {
        listener = receiver;
        poller.start();
    }

    @Override
    public void refresh(@Nullable Endpoint from) {
        if (from != null) {
            hint.set(from);
        }
        poller.request();
    }

    @Override
    public void close() {
        poller.close();
    }

    /** The members in the order in which they are asked: who redirected, who is known, who is configured. */
    private List<Endpoint> candidates() {
        Set<Endpoint> ordered = new LinkedHashSet<>();
        Endpoint first = hint.getAndSet(null);
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
                return ask(candidate);
            } catch (IOException | RuntimeException failed) {
                // A bad reply of one member must not end the thread.
                LOG.debug("Member {} does not report the slot map", candidate, failed);
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
        if (map.members().isEmpty()) {
            // Nothing can be served before the first map, so it asks again at once.
            poller.request();
        }
        return true;
    }

    private boolean ask(Endpoint member) throws IOException {
        try (BlockingConnection connection = new BlockingConnection(member, timeoutMillis, credentials.tls())) {
            connection.authenticate(credentials);
            Reply slots = connection.call("CLUSTER", "SLOTS");
            if (slots.isError() && !isPlain(slots)) {
                throw new IOException(slots.textOrEmpty());
            }
            isReachable = true;
            return accept(slots, member, connection);
        }
    }

    private boolean isPlain(Reply reply) {
        return mayBePlain && map.members().isEmpty() && reply.isError()
                && (reply.textOrEmpty().contains(NO_CLUSTER) || reply.textOrEmpty().startsWith(NO_COMMAND));
    }

    private boolean accept(Reply slots, Endpoint reporter, BlockingConnection connection) throws IOException {
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
            SlotTable.Kind kind = kind(connection.call("CLUSTER", "NODES"));
            map = changed;
            lastReply = slots;
            LOG.info("Slot map {} of {}: {} members, {} slots", map.epoch(), reporter, map.members().size(),
                    map.assignedSlots());
            listener.changed(new SlotTable(map, kind));
        }
        return true;
    }

    /** A member without a bus, such as Varve's, shows 0 as its bus port. */
    static SlotTable.Kind kind(Reply nodes) {
        boolean hasNoBus = nodes.textOrEmpty().lines()
                .anyMatch(line -> line.contains("myself") && (line.contains("@0 ") || line.contains("@0,")));
        return hasNoBus ? SlotTable.Kind.CLUSTER : SlotTable.Kind.CLUSTER_WITH_BUS;
    }
}
