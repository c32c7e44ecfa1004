package io.varve.server.membership;

import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.client.MemberSession;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.protocol.ClusterView.Liveness;
import io.varve.cluster.protocol.Command;
import org.jspecify.annotations.Nullable;

/** The part of the controllers that a {@link RoleHandover} needs. Thread-safe. */
interface HandoverControllers {
    /** Returns the generation of this process. */
    long generation();

    /**
     * Returns the state of a member's process; null if the controllers do not know the member.
     *
     * @throws ControllersUnavailableException if there was no reply in time
     */
    @Nullable
    Liveness liveness(String memberId) throws ControllersUnavailableException;

    /**
     * Changes the map.
     *
     * @return the epoch of the changed map
     * @throws RefusedException if the cluster's state does not allow it
     * @throws ControllersUnavailableException if there was no reply in time; the change may have been made
     */
    long handOver(Command.HandOver command) throws RefusedException, ControllersUnavailableException;

    /** Asks for the newest map at once. */
    void hurry();

    /** The controllers of a session. */
    static HandoverControllers of(MemberSession session) {
        return new HandoverControllers() {
            @Override
            public long generation() {
                return session.generation();
            }

            @Override
            public @Nullable Liveness liveness(String memberId) throws ControllersUnavailableException {
                return session.client().view().liveness().get(memberId);
            }

            @Override
            public long handOver(Command.HandOver command) throws RefusedException, ControllersUnavailableException {
                return session.client().change(command).epoch();
            }

            @Override
            public void hurry() {
                session.hurry();
            }
        };
    }
}
