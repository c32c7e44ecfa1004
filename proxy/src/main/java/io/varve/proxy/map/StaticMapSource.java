package io.varve.proxy.map;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import org.jspecify.annotations.Nullable;

/**
 * The map of members that know no cluster: each has a range of the slots in proportion to its weight. Immutable.
 *
 * <p>The ranges follow the order of the members in the settings. So a change of the settings moves keys away from where
 * they are, and such a proxy has to start with the settings of all others.
 */
public final class StaticMapSource implements MapSource {
    private final SlotTable table;

    public StaticMapSource(List<SeedMember> members) {
        table = table(members);
    }

    /** The map of these members. */
    static SlotTable table(List<SeedMember> members) {
        double total = members.stream().mapToDouble(SeedMember::weight).sum();
        SlotMap.Builder map = SlotMap.EMPTY.toBuilder();
        double before = 0;
        int slot = 0;
        for (SeedMember seed : members) {
            Member member = new Member(id(seed.endpoint()), seed.endpoint().host(), seed.endpoint().port(),
                    seed.weight(), null);
            map.member(member);
            before += seed.weight();
            int end = (int) Math.round(HashSlot.COUNT * before / total);
            while (slot < end) {
                map.owner(slot++, member.id());
            }
        }
        return new SlotTable(map.build(1), SlotTable.Kind.PLAIN);
    }

    /** An ID with the form of a cluster's. */
    private static String id(Endpoint endpoint) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest(endpoint.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public void start(Listener listener) {
        listener.changed(table);
    }

    @Override
    public void refresh(@Nullable Endpoint from) {
        // The settings do not change.
    }

    @Override
    public void close() {
        // It holds nothing.
    }
}
