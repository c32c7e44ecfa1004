package io.varve.cluster.client;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.CommandCodec;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.protocol.ControllerGroup;
import io.varve.cluster.protocol.HeartbeatReply;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.protocol.QueryCodec;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.retry.RequestTypeDependentRetryPolicy;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto.TypeCase;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.retry.RetryPolicy;

/**
 * A client of the controllers, which finds the leader. Thread-safe.
 *
 * <p>A change is retried until a deadline under one call ID. The controllers remember the replies to recent calls
 * (Ratis's retry cache), so that a change is made once even if its first reply was lost.
 */
public final class ControllerClient implements AutoCloseable {
    private static final long REQUEST_TIMEOUT_MILLIS = 1_000;
    private static final long HEARTBEAT_TIMEOUT_MILLIS = 300;
    private static final long PAUSE_MILLIS = 100;

    private final String addresses;
    private final long deadlineMillis;
    private final RaftClient client;
    /** Heartbeats are not repeated: the next one is as good, and newer. */
    private final RaftClient heartbeats;

    /**
     * Opens a client. It connects at the first request.
     *
     * @param controllers at least one of them; their IDs may be wrong: the controllers tell theirs
     * @param deadlineMillis how long a request is retried
     */
    public ControllerClient(List<ControllerAddress> controllers, long deadlineMillis) {
        this.deadlineMillis = deadlineMillis;
        addresses = controllers.stream().map(ControllerAddress::address).collect(Collectors.joining(", "));
        client = client(controllers, Math.min(REQUEST_TIMEOUT_MILLIS, deadlineMillis), untilDeadline(deadlineMillis));
        heartbeats = client(controllers, HEARTBEAT_TIMEOUT_MILLIS, RetryPolicies.noRetry());
    }

    private static RetryPolicy untilDeadline(long deadlineMillis) {
        RetryPolicy retries = RetryPolicies.retryForeverWithSleep(ControllerGroup.millis(PAUSE_MILLIS));
        return RequestTypeDependentRetryPolicy.newBuilder().setRetryPolicy(TypeCase.WRITE, retries)
                .setTimeout(TypeCase.WRITE, ControllerGroup.millis(deadlineMillis))
                .setRetryPolicy(TypeCase.READ, retries)
                .setTimeout(TypeCase.READ, ControllerGroup.millis(deadlineMillis)).build();
    }

    private static RaftClient client(List<ControllerAddress> controllers, long timeoutMillis, RetryPolicy retries) {
        return RaftClient.newBuilder().setRaftGroup(ControllerGroup.of(controllers))
                .setProperties(ControllerGroup.properties(timeoutMillis)).setRetryPolicy(retries).build();
    }

    /**
     * Makes a change.
     *
     * @throws RefusedException if the cluster's state does not allow it
     * @throws ControllersUnavailableException if there was no reply in time; the change may have been made
     */
    public ChangeResult change(Command command) throws RefusedException, ControllersUnavailableException {
        ChangeResult result;
        try {
            result = CommandCodec.decodeResult(ControllerGroup.bytes(
                    client.io().send(ControllerGroup.message(CommandCodec.encode(command))).getMessage()));
        } catch (StateMachineException refused) {
            Throwable cause = refused.getCause();
            throw new RefusedException(String.valueOf((cause == null ? refused : cause).getMessage()), 0);
        } catch (IOException failed) {
            throw unavailable(failed);
        }
        if (!result.accepted()) {
            throw new RefusedException(result.reason(), result.epoch());
        }
        return result;
    }

    /**
     * Asks the leader for the cluster. It contains each change that was acknowledged before the call.
     *
     * @throws ControllersUnavailableException if there was no reply in time
     */
    public ClusterView view() throws ControllersUnavailableException {
        Message query = ControllerGroup.message(QueryCodec.encode(new Query.View()));
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(deadlineMillis);
        try {
            while (true) {
                RaftClientReply reply = client.io().sendReadOnly(query);
                byte[] bytes = ControllerGroup.bytes(reply.getMessage());
                if (bytes.length > 0) {
                    return QueryCodec.decodeView(bytes);
                }
                if (System.nanoTime() - end >= 0) {
                    throw new IOException("controller " + reply.getReplierId() + " cannot confirm that it leads");
                }
                ControllerGroup.millis(PAUSE_MILLIS).sleep();
            }
        } catch (IOException failed) {
            throw unavailable(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unavailable(interrupted);
        }
    }

    /** Sends one heartbeat, without a retry. */
    HeartbeatReply heartbeat(Query.Heartbeat heartbeat) throws ControllersUnavailableException {
        try {
            return QueryCodec.decodeHeartbeatReply(ControllerGroup.bytes(heartbeats.io()
                    .sendReadOnly(ControllerGroup.message(QueryCodec.encode(heartbeat))).getMessage()));
        } catch (IOException failed) {
            throw unavailable(failed);
        }
    }

    private ControllersUnavailableException unavailable(Throwable cause) {
        return new ControllersUnavailableException("no leader among the controllers " + addresses + " has replied",
                cause);
    }

    @Override
    public void close() throws IOException {
        try (client) {
            heartbeats.close();
        }
    }
}
