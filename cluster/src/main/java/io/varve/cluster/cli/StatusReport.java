package io.varve.cluster.cli;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView;

/** What {@code cluster status} prints: one line for the cluster, one for each member. Stateless. */
final class StatusReport {
    private static final ClusterView.Liveness UNKNOWN = new ClusterView.Liveness(false, 0, -1);
    private static final MathContext FOUR_DIGITS = new MathContext(4);

    private StatusReport() {}

    static List<String> lines(ClusterView view) {
        SlotMap map = view.map();
        List<String> lines = new ArrayList<>();
        lines.add("leader " + view.leaderId() + ", term " + view.term() + ", epoch " + map.epoch() + ", slots "
                + map.assignedSlots() + " of " + HashSlot.COUNT + ", migrating " + map.migrations().size());
        lines.add(row("id", "address", "role", "slots", "weight", "offset", "lease ms", "alive", "primary").strip());
        for (Member primary : map.members()) {
            if (primary.isPrimary()) {
                lines.add(line(view, primary));
                map.replicas(primary).forEach(replica -> lines.add(line(view, replica)));
            }
        }
        return lines;
    }

    private static String line(ClusterView view, Member member) {
        ClusterView.Liveness seen = view.liveness().getOrDefault(member.id(), UNKNOWN);
        String role = member.isPrimary() ? "primary" : "replica";
        int slots = view.map().slots(member).stream().mapToInt(SlotRange::size).sum();
        String primaryId = member.primaryId();
        return row(member.id(), member.address(), member.kind() == Member.Kind.PLAIN ? "plain" : role,
                Integer.toString(slots), weight(member),
                seen.offset() < 0 ? "-" : Long.toString(seen.offset()),
                seen.leaseMillis() > 0 ? Long.toString(seen.leaseMillis()) : "-", seen.alive() ? "yes" : "no",
                primaryId == null ? "-" : primaryId);
    }

    private static String weight(Member member) {
        return BigDecimal.valueOf(member.weight()).round(FOUR_DIGITS).stripTrailingZeros().toPlainString();
    }

    private static String row(String... columns) {
        return String.format(Locale.ROOT, "%-40s %-21s %-8s %7s %6s %9s %8s %6s %s", (Object[]) columns)
                .stripTrailing();
    }
}
