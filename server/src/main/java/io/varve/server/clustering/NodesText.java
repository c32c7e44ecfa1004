package io.varve.server.clustering;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;

/**
 * The lines of CLUSTER NODES. Immutable: static methods only.
 *
 * <p>There is no cluster bus: its port is 0, as are the times of pings and pongs. All members have the epoch of the
 * map.
 */
public final class NodesText {
    /** The host of a server that listens on all addresses and announces none. */
    private static final String ANY_HOST = "0.0.0.0";

    private NodesText() {}

    /** All members, one in a line that ends with a line feed. */
    public static String of(ClusterView view) {
        StringBuilder text = new StringBuilder();
        for (Member member : view.members()) {
            text.append(line(view, member)).append('\n');
        }
        return text.toString();
    }

    private static String slots(ClusterView view, Member member) {
        StringBuilder text = new StringBuilder();
        for (SlotRange range : view.map().slots(member)) {
            text.append(' ').append(range.first());
            if (range.size() > 1) {
                text.append('-').append(range.last());
            }
        }
        return text.toString();
    }

    /** One member, without a line end. */
    public static String line(ClusterView view, Member member) {
        boolean isMe = view.isMe(member);
        StringBuilder line = new StringBuilder(128).append(member.id()).append(' ').append(host(member)).append(':')
                .append(member.port()).append("@0 ").append(isMe ? "myself," : "")
                .append(member.isPrimary() ? "master" : "slave")
                .append(' ').append(member.primaryId() == null ? "-" : member.primaryId()).append(" 0 0 ")
                .append(view.map().epoch()).append(" connected").append(slots(view, member));
        if (isMe) {
            view.migrating().forEach((slot, to) -> line.append(" [").append(slot).append("->-").append(to.id())
                    .append(']'));
            view.importing().forEach((slot, from) -> line.append(" [").append(slot).append("-<-").append(from.id())
                    .append(']'));
        }
        return line.toString();
    }

    /** What clients connect to; empty if it is not known: they use the address that they are connected to. */
    public static String host(Member member) {
        return isAnyHost(member.host()) ? "" : member.host();
    }

    /** Whether it stands for all addresses of a machine. */
    static boolean isAnyHost(String host) {
        return host.equals(ANY_HOST);
    }

    /** The host of a member whose line has this one. */
    static String hostOf(String shown) {
        return shown.isEmpty() ? ANY_HOST : shown;
    }
}
