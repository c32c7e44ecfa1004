package io.varve.proxy.route;

import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.member.MemberFailure;
import org.jspecify.annotations.Nullable;

/** The error replies of requests that no member has answered. Stateless. */
public final class RouteErrors {
    /** The keys of a request, or of a transaction, are in several slots. As in Redis Cluster. */
    public static final String CROSS_SLOT = "CROSSSLOT Keys in request don't hash to the same slot";

    private RouteErrors() {}

    /** The error for a slot without a member. */
    public static String noOwner(SlotTable table, int slot) {
        return table.map().members().isEmpty()
                ? "CLUSTERDOWN The proxy has found no member yet"
                : "CLUSTERDOWN Hash slot not served: " + slot;
    }

    /** The error for a request that has failed. */
    public static String of(MemberFailure failure, @Nullable Endpoint member) {
        return switch (failure) {
            case UNREACHABLE -> "CLUSTERDOWN The member " + member + " cannot be reached; the command has not run";
            case LOST -> "ERR The connection to the member " + member + " broke; the command may have run";
            case TIMED_OUT -> "ERR The member " + member + " did not reply in time; the command may have run";
        };
    }
}
