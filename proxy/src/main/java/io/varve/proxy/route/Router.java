package io.varve.proxy.route;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoop;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.MapSource;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.member.LoopMembers;
import io.varve.proxy.member.MemberLane;
import io.varve.proxy.route.RoutedCall.Origin;
import org.jspecify.annotations.Nullable;

/** The slot map of an event loop, and its lanes to the members. Confined to the event loop. */
public final class Router {
    private static final int RESP2 = 2;
    private static final int PROTOCOLS = 2;

    private final EventLoop loop;
    private final LoopMembers members;
    private final MapSource source;
    private final RouteStatistics statistics;
    private SlotTable table = SlotTable.EMPTY;
    /** By protocol and number of the primary: the shared lanes, once they were needed. */
    private MemberLane[][] @Nullable [] lanes = new MemberLane[PROTOCOLS][0][];
    private long version;

    public Router(EventLoop loop, LoopMembers members, MapSource source, RouteStatistics statistics) {
        this.loop = loop;
        this.members = members;
        this.source = source;
        this.statistics = statistics;
    }

    /** Routes by another map from now on. */
    public void table(SlotTable changed) {
        table = changed;
        version++;
        List<Endpoint> known = new ArrayList<>();
        changed.map().members().forEach(member -> known.add(new Endpoint(member.host(), member.port())));
        members.retain(known);
        lanes = new MemberLane[PROTOCOLS][changed.primaries().size()][];
    }

    /** The lane of a client to the owner of a slot; null if no member serves it. */
    @Nullable
    MemberLane lane(int slot, Origin origin) {
        int number = table.ownerNumber(slot);
        if (number < 0) {
            return null;
        }
        MemberLane[] @Nullable [] known = lanes[origin.protocol() - RESP2];
        MemberLane[] shared = known[number];
        if (shared == null) {
            shared = members.shared(table.primaries().get(number), origin.protocol());
            known[number] = shared;
        }
        return shared[(int) (origin.id() % shared.length)];
    }

    /** The lane of a client to a member. */
    MemberLane lane(Endpoint member, Origin origin) {
        MemberLane[] shared = members.shared(member, origin.protocol());
        return shared[(int) (origin.id() % shared.length)];
    }

    /** The lane of a client to the copies that a member has of others' keys. */
    MemberLane copyLane(Endpoint member, Origin origin) {
        MemberLane[] shared = members.sharedForCopies(member, origin.protocol());
        return shared[(int) (origin.id() % shared.length)];
    }

    public SlotTable table() {
        return table;
    }

    /** Rises with each change of the map. */
    public long version() {
        return version;
    }

    public LoopMembers members() {
        return members;
    }

    RouteStatistics statistics() {
        return statistics;
    }

    /** A request has failed that took no {@link RoutedCall}. */
    public void failed() {
        statistics.failed.increment();
    }

    /** Requests a newer map. */
    public void refresh(@Nullable Endpoint from) {
        source.refresh(from);
    }

    /** Any member that has slots; null if none is known. */
    public @Nullable Endpoint any() {
        List<Endpoint> primaries = table.primaries();
        return primaries.isEmpty() ? null : primaries.get(ThreadLocalRandom.current().nextInt(primaries.size()));
    }

    // A task of a loop that ends is dropped with its connections.
    @SuppressWarnings("FutureReturnValueIgnored")
    void later(Runnable task, long millis) {
        loop.schedule(task, millis, TimeUnit.MILLISECONDS);
    }
}
