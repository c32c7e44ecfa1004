package io.varve.proxy.map;

import java.util.List;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.proxy.resp.Reply;

/** Reads the reply of CLUSTER SLOTS. Stateless. */
final class ClusterSlots {
    private static final int FIRST_NODE = 2;
    private static final int NODE_ID = 2;

    private ClusterSlots() {}

    /**
     * The map that a member reports.
     *
     * @param reporter its address, which stands for an empty host
     * @throws IllegalArgumentException if the reply is not one of CLUSTER SLOTS
     */
    static SlotMap read(Reply slots, Endpoint reporter, long epoch) {
        SlotMap.Builder map = SlotMap.EMPTY.toBuilder();
        try {
            for (Reply range : slots.elements()) {
                List<Reply> parts = range.elements();
                String primary = null;
                for (Reply node : parts.subList(FIRST_NODE, parts.size())) {
                    String id = node.elements().get(NODE_ID).textOrEmpty();
                    if (!id.equals(primary)) {
                        map.member(member(node, id, reporter, primary));
                    }
                    primary = primary == null ? id : primary;
                }
                if (primary != null) {
                    map.owner(new SlotRange((int) parts.get(0).integer(), (int) parts.get(1).integer()), primary);
                }
            }
            return map.build(epoch);
        } catch (IndexOutOfBoundsException | IllegalStateException bad) {
            throw new IllegalArgumentException("not a reply of CLUSTER SLOTS: " + bad.getMessage(), bad);
        }
    }

    private static Member member(Reply node, String id, Endpoint reporter,
            @org.jspecify.annotations.Nullable String primary) {
        String host = node.elements().get(0).textOrEmpty();
        // A node that does not know its own address reports an empty host or, in Redis 7, a question mark.
        boolean isUnknown = host.isEmpty() || host.equals("?");
        return new Member(id, isUnknown ? reporter.host() : host, (int) node.elements().get(1).integer(), 1, primary);
    }
}
