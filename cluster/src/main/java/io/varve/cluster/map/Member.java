package io.varve.cluster.map;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A server of a cluster. Immutable.
 *
 * @param id 40 hexadecimal digits, as the node ID of Redis Cluster
 * @param host what clients connect to
 * @param port from 1 to 65535
 * @param weight share of the slots in relation to other members; positive
 * @param primaryId the member that it replicates; null: it is a primary
 * @param kind who keeps its lease
 */
public record Member(String id, String host, int port, double weight, @Nullable String primaryId, Kind kind) {
    /** The kinds of servers. */
    public enum Kind {
        /** Sends heartbeats and refuses writes without a lease. */
        VARVE,
        /** A redis-server or Valkey that knows no cluster. The controller pings it and never promotes in its place. */
        PLAIN
    }

    private static final Pattern ID = Pattern.compile("[0-9a-f]{40}");
    private static final int MAX_PORT = 65_535;

    public Member {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("member " + id + ": expected an ID of 40 hexadecimal digits");
        }
        if (host.isEmpty() || port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("member " + id + " at " + host + ":" + port
                    + ": expected a host and a port from 1 to " + MAX_PORT);
        }
        if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("member " + id + ": weight " + weight + ": expected a positive number");
        }
        if (id.equals(primaryId)) {
            throw new IllegalArgumentException("member " + id + " cannot replicate itself");
        }
    }

    /** A member of kind {@link Kind#VARVE}. */
    public Member(String id, String host, int port, double weight, @Nullable String primaryId) {
        this(id, host, port, weight, primaryId, Kind.VARVE);
    }

    public boolean isPrimary() {
        return primaryId == null;
    }

    /** This member as a replica of another one; null: as a primary. */
    public Member withPrimary(@Nullable String newPrimaryId) {
        return new Member(id, host, port, weight, newPrimaryId, kind);
    }

    /** This member with another weight. */
    public Member withWeight(double newWeight) {
        return new Member(id, host, port, newWeight, primaryId, kind);
    }

    /** This member at another address. */
    public Member withAddress(String newHost, int newPort) {
        return new Member(id, newHost, newPort, weight, primaryId, kind);
    }

    /** @return HOST:PORT */
    public String address() {
        return host + ':' + port;
    }
}
