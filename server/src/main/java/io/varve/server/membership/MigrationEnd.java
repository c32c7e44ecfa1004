package io.varve.server.membership;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.client.MemberSession;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.server.clustering.Handover;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the controllers to end migrations of this member's slots. Thread-safe. */
final class MigrationEnd implements Handover {
    private static final Logger LOG = LoggerFactory.getLogger(MigrationEnd.class);

    private static final long PAUSE_MILLIS = 50;

    private final MemberSession session;
    private final String id;

    /** @param id of this member */
    MigrationEnd(MemberSession session, String id) {
        this.session = session;
        this.id = id;
    }

    @Override
    public boolean finish(List<SlotRange> slots, String targetId, long targetGeneration, long epoch)
            throws InterruptedException {
        Command end = new Command.FinishMigration(slots, id, session.generation(), targetId, targetGeneration, epoch);
        while (true) {
            try {
                Boolean moved = ask(end, slots, targetId);
                if (moved != null) {
                    return moved;
                }
            } catch (RuntimeException | Error bug) {
                // Also without memory. The outcome is unknown: the commands of these slots must not run here yet.
                LOG.error("The controllers are asked again whether {} has slots", targetId, bug);
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /** @return whether the slots have moved; null: it is unknown */
    private @Nullable Boolean ask(Command end, List<SlotRange> slots, String targetId) {
        try {
            session.client().change(end);
            return true;
        } catch (RefusedException refused) {
            Boolean moved = hasMoved(slots, targetId);
            if (Boolean.FALSE.equals(moved)) {
                LOG.warn("The controllers do not give slots to {}: {}", targetId, refused.getMessage());
            }
            return moved;
        } catch (ControllersUnavailableException unavailable) {
            LOG.debug("{}", unavailable.getMessage(), unavailable);
            return null;
        }
    }

    /** Whether an earlier request, whose reply was lost, has succeeded; null: the controllers do not reply. */
    private @Nullable Boolean hasMoved(List<SlotRange> slots, String targetId) {
        try {
            SlotMap map = session.client().view().map();
            for (SlotRange range : slots) {
                for (int slot = range.first(); slot <= range.last(); slot++) {
                    Member owner = map.owner(slot);
                    if (owner == null || !owner.id().equals(targetId)) {
                        return false;
                    }
                }
            }
            return true;
        } catch (ControllersUnavailableException unavailable) {
            return null;
        }
    }
}
