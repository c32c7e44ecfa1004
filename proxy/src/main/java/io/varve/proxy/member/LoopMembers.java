package io.varve.proxy.member;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.varve.proxy.map.Endpoint;
import org.jspecify.annotations.Nullable;

/** The lanes of one event loop to all members. Confined to the event loop. */
public final class LoopMembers {
    /** Idle dedicated lanes that are kept for a member and protocol. */
    private static final int MAX_IDLE = 16;

    private final EventLoop loop;
    private final Class<? extends Channel> channelType;
    private final MemberSettings settings;
    private final MemberHealths healths;
    private final Map<Place, MemberLane[]> shared = new HashMap<>();
    private final Map<Place, ArrayDeque<MemberLane>> idle = new HashMap<>();
    private final Set<MemberLane> dedicated = new HashSet<>();

    /** @param readsCopies whether the member shall serve copies of others' keys on these lanes */
    private record Place(Endpoint endpoint, int protocol, boolean readsCopies) {}

    public LoopMembers(EventLoop loop, Class<? extends Channel> channelType, MemberSettings settings,
            MemberHealths healths) {
        this.loop = loop;
        this.channelType = channelType;
        this.settings = settings;
        this.healths = healths;
    }

    EventLoop loop() {
        return loop;
    }

    Class<? extends Channel> channelType() {
        return channelType;
    }

    MemberSettings settings() {
        return settings;
    }

    MemberHealth health(Endpoint endpoint) {
        return healths.of(endpoint);
    }

    /**
     * The lanes that clients share. A client with number N always has lane N modulo their count, which keeps its calls
     * in order. They are valid until {@link #retain}.
     */
    public MemberLane[] shared(Endpoint endpoint, int protocol) {
        return shared(new Place(endpoint, protocol, false));
    }

    /** As {@link #shared(Endpoint, int)}, for reads of copies of other members' keys. */
    public MemberLane[] sharedForCopies(Endpoint endpoint, int protocol) {
        return shared(new Place(endpoint, protocol, true));
    }

    private MemberLane[] shared(Place wanted) {
        return shared.computeIfAbsent(wanted, place -> {
            MemberLane[] created = new MemberLane[settings.connections()];
            for (int i = 0; i < created.length; i++) {
                created[i] = new MemberLane(this, place.endpoint(), place.protocol(), false, place.readsCopies());
            }
            return created;
        });
    }

    /** A lane for one client, who gives it back or closes it; null if the limit is reached. */
    public @Nullable MemberLane dedicate(Endpoint endpoint, int protocol) {
        ArrayDeque<MemberLane> kept = idle.get(new Place(endpoint, protocol, false));
        while (kept != null && !kept.isEmpty()) {
            MemberLane lane = kept.removeLast();
            if (lane.isClean()) {
                return lane;
            }
            close(lane);
        }
        if (dedicated.size() >= settings.maxDedicated() && !closeIdle()) {
            return null;
        }
        MemberLane lane = new MemberLane(this, endpoint, protocol, true, false);
        dedicated.add(lane);
        return lane;
    }

    /** Closes an idle lane, the oldest of its member. @return false if there is none */
    private boolean closeIdle() {
        for (ArrayDeque<MemberLane> kept : idle.values()) {
            MemberLane oldest = kept.poll();
            if (oldest != null) {
                close(oldest);
                return true;
            }
        }
        return false;
    }

    /** Takes a dedicated lane back: keeps it for others if the member holds no state for the client. */
    public void giveBack(MemberLane lane) {
        lane.onBroken(null);
        ArrayDeque<MemberLane> kept = idle.computeIfAbsent(new Place(lane.endpoint(), lane.protocol(), false),
                _ -> new ArrayDeque<>());
        if (lane.isClean() && kept.size() < MAX_IDLE) {
            kept.add(lane);
        } else {
            close(lane);
        }
    }

    /** Closes a dedicated lane. */
    public void close(MemberLane lane) {
        dedicated.remove(lane);
        lane.close();
    }

    /** Number of dedicated lanes, idle ones included. */
    public int dedicatedCount() {
        return dedicated.size();
    }

    /** Forgets members that are not in the map: their lanes close when they are idle. */
    public void retain(Collection<Endpoint> endpoints) {
        List<MemberLane[]> forgotten = new ArrayList<>();
        shared.entrySet().removeIf(entry -> {
            boolean leaves = !endpoints.contains(entry.getKey().endpoint());
            if (leaves) {
                forgotten.add(entry.getValue());
            }
            return leaves;
        });
        for (MemberLane[] lanes : forgotten) {
            for (MemberLane lane : lanes) {
                lane.forget();
            }
        }
        idle.forEach((place, lanes) -> {
            if (!endpoints.contains(place.endpoint())) {
                lanes.forEach(this::close);
                lanes.clear();
            }
        });
    }

    /** Applies time limits, and probes ejected members; called about ten times a second. */
    public void check() {
        long now = System.nanoTime();
        for (MemberLane[] lanes : List.copyOf(shared.values())) {
            for (MemberLane lane : lanes) {
                lane.check(now);
            }
            if (lanes.length > 0 && health(lanes[0].endpoint()).tryProbe(now)) {
                lanes[0].probe();
            }
        }
        List.copyOf(dedicated).forEach(lane -> lane.check(now));
        dedicated.removeIf(MemberLane::isBroken);
    }

    /** Closes all lanes. */
    public void close() {
        for (MemberLane[] lanes : List.copyOf(shared.values())) {
            for (MemberLane lane : lanes) {
                lane.close();
            }
        }
        List.copyOf(dedicated).forEach(this::close);
    }
}
