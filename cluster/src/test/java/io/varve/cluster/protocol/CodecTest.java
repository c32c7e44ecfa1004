package io.varve.cluster.protocol;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.testing.TestMembers;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Bytes of messages. Confined to the test's thread. */
final class CodecTest {
    private static final SlotMap MAP = new SlotMap.Builder().member(TestMembers.primary(1))
            .member(TestMembers.primary(2).withWeight(0.25)).member(TestMembers.replica(3, 1))
            .member(new Member(TestMembers.id(4), "redis.example", 6379, 1, null, Member.Kind.PLAIN))
            .owner(new SlotRange(0, 99), TestMembers.id(1)).owner(new SlotRange(200, HashSlot.COUNT - 1),
                    TestMembers.id(2))
            .owner(300, TestMembers.id(1)).target(300, TestMembers.id(4)).build(77);

    /** Reads a message. */
    @FunctionalInterface
    private interface Decoder {
        Object decode(byte[] bytes) throws IOException;
    }

    private static void assertSame(SlotMap read, SlotMap written) {
        assertThat(read.epoch()).isEqualTo(written.epoch());
        assertThat(read.members()).isEqualTo(written.members());
        assertThat(read.migrations()).isEqualTo(written.migrations());
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            assertThat(read.owner(slot)).isEqualTo(written.owner(slot));
        }
    }

    @Test
    void queries_roundTrip() throws IOException {
        for (Query query : List.of(new Query.Heartbeat(TestMembers.id(1), 5, Long.MAX_VALUE, -1, true, 7, -9),
                new Query.View(), new Query.Term())) {
            assertThat(QueryCodec.decode(QueryCodec.encode(query))).isEqualTo(query);
        }
        assertThat(QueryCodec.decodeTerm(QueryCodec.encodeTerm(9))).isEqualTo(9);
    }

    @Test
    void replies_roundTrip() throws IOException {
        for (HeartbeatReply.Status status : HeartbeatReply.Status.values()) {
            HeartbeatReply reply = new HeartbeatReply(status, 1_000, 200, 3, -4, null);
            assertThat(QueryCodec.decodeHeartbeatReply(QueryCodec.encode(reply))).isEqualTo(reply);
        }
        SlotMap map = QueryCodec.decodeHeartbeatReply(QueryCodec.encode(
                new HeartbeatReply(HeartbeatReply.Status.MEMBER, 1, 2, 3, 4, MAP))).map();
        assertThat(map).isNotNull();
        assertSame(map, MAP);
        ChangeResult result = new ChangeResult(false, 4, 5, "why");
        assertThat(CommandCodec.decodeResult(CommandCodec.encode(result))).isEqualTo(result);
        ClusterView view = new ClusterView("c1", 3, MAP, Map.of(TestMembers.id(1), List.of(1L, -2L)),
                Map.of(TestMembers.id(2), new ClusterView.Liveness(true, 900, 12)));
        ClusterView read = QueryCodec.decodeView(QueryCodec.encode(view));
        assertThat(read.identifiers()).isEqualTo(view.identifiers());
        assertThat(read.liveness()).isEqualTo(view.liveness());
        assertSame(read.map(), MAP);
    }

    @Test
    void handOver_roundTrips() throws IOException {
        Command command = new Command.HandOver(TestMembers.id(1), 5, TestMembers.id(2), Long.MAX_VALUE, 7);
        assertThat(CommandCodec.decode(CommandCodec.encode(command))).isEqualTo(command);
    }

    @Test
    void anotherVersion_isRefused() {
        byte[] later = QueryCodec.encode(new Query.View());
        later[0]++;
        assertThatThrownBy(() -> QueryCodec.decode(later)).isInstanceOf(IOException.class)
                .hasMessage("a message of version 2: expected 1");
    }

    /** A damaged message is refused, or read as another one; it never fails in another way. */
    @Test
    void randomBytes_areRefused() {
        Random random = new Random(TestBudget.seed("varve.cluster.codec-seed"));
        int inputs = TestBudget.ofInt("varve.cluster.codec-inputs", 3_000, 300_000);
        byte[] reply = QueryCodec.encode(new HeartbeatReply(HeartbeatReply.Status.MEMBER, 1, 2, 3, 4, MAP));
        byte[] command = CommandCodec.encode(new Command.BeginMigration(List.of(new SlotRange(3, 9)), "x"));
        int refused = 0;
        for (int i = 0; i < inputs; i++) {
            refused += isRefused(damaged(reply, random), QueryCodec::decodeHeartbeatReply);
            refused += isRefused(damaged(command, random), CommandCodec::decode);
        }
        assertThat(refused).isPositive();
    }

    private static byte[] damaged(byte[] bytes, Random random) {
        byte[] damaged = bytes.clone();
        int changes = 1 + random.nextInt(3);
        for (int i = 0; i < changes; i++) {
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
        }
        return damaged;
    }

    private static int isRefused(byte[] bytes, Decoder decoder) {
        try {
            Object _ = decoder.decode(bytes);
            return 0;
        } catch (IOException refused) {
            return 1;
        }
    }
}
