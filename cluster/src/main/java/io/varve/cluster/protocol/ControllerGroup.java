package io.varve.cluster.protocol;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.TimeDuration;

/** The controllers as a Raft group, and what their servers and clients have in common. Stateless. */
public final class ControllerGroup {
    /** Each process is in one cluster, so that the group needs no name of its own. */
    public static final RaftGroupId ID = RaftGroupId.valueOf(
            UUID.nameUUIDFromBytes("varve-controllers".getBytes(StandardCharsets.US_ASCII)));

    /**
     * Logs of the gRPC inside Ratis, which bypass SLF4J: it reports each lost connection with a stack. It is held here,
     * because the JDK forgets the level of a logger that nobody holds.
     */
    private static final Logger GRPC_LOG = Logger.getLogger("org.apache.ratis.thirdparty.io");

    static {
        GRPC_LOG.setLevel(Level.SEVERE);
    }

    private ControllerGroup() {}

    public static RaftGroup of(List<ControllerAddress> controllers) {
        return RaftGroup.valueOf(ID, controllers.stream()
                .map(one -> RaftPeer.newBuilder().setId(one.id()).setAddress(one.address()).build()).toList());
    }

    /** @param requestTimeoutMillis of a request to one controller, after which the next one is tried */
    public static RaftProperties properties(long requestTimeoutMillis) {
        RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, millis(requestTimeoutMillis));
        return properties;
    }

    public static TimeDuration millis(long millis) {
        return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
    }

    /** @param bytes must not change afterwards */
    public static Message message(byte[] bytes) {
        ByteString wrapped = UnsafeByteOperations.unsafeWrap(bytes);
        return () -> wrapped;
    }

    public static byte[] bytes(Message message) {
        return message.getContent().toByteArray();
    }
}
