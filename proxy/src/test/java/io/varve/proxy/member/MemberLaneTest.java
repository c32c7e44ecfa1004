package io.varve.proxy.member;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.map.MemberCredentials;
import io.varve.proxy.resp.Requests;
import io.varve.proxy.testing.ScriptedMember;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the lanes of an event loop to members whose replies are scripted. Lanes are confined to the loop. */
class MemberLaneTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final int MAX_DEDICATED = 2;

    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoop loop = group.next();
    private final MemberHealths healths = new MemberHealths();
    private final LoopMembers members = new LoopMembers(loop, NioSocketChannel.class,
            new MemberSettings(new MemberCredentials("", "", null), 20_000, 20_000, 1, 0, 1 << 20, MAX_DEDICATED),
            healths);

    @AfterEach
    void close() {
        loop.submit(() -> members.close()).syncUninterruptibly();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private <T extends @Nullable Object> T inLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get();
    }

    /** The reply to a request, or the failure, once it is known. */
    private static CompletableFuture<String> call(MemberLane lane, boolean isTimed, String... words) {
        CompletableFuture<String> result = new CompletableFuture<>();
        ByteBuf request = Requests.of(UnpooledByteBufAllocator.DEFAULT, words);
        lane.submit(new MemberCall(request, 0, isTimed, new MemberCall.Outcome() {
            @Override
            public void replied(ByteBuf reply, @Nullable String leadingError) {
                result.complete(reply.toString(StandardCharsets.US_ASCII).strip());
                reply.release();
                request.release();
            }

            @Override
            public void failed(MemberFailure failure) {
                result.complete(failure.name());
                request.release();
            }
        }));
        return result;
    }

    @Test
    void aLaneThatIsClosedWhileItConnects_leavesNoConnection() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Endpoint endpoint = new Endpoint("127.0.0.1", listener.getLocalPort());
            CompletableFuture<String> failed = inLoop(() -> {
                MemberLane lane = Objects.requireNonNull(members.dedicate(endpoint, 2));
                CompletableFuture<String> result = call(lane, true, "GET", "key");
                members.close(lane);
                return result;
            });
            assertThat(failed.get()).isEqualTo("UNREACHABLE");
            try (Socket accepted = listener.accept()) {
                accepted.setSoTimeout(30_000);
                assertThat(accepted.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void theLatency_isThatOfCallsThatDoNotWait() throws Exception {
        try (ScriptedMember member = new ScriptedMember(_ -> null)) {
            MemberLane lane = inLoop(() -> Objects.requireNonNull(members.dedicate(member.endpoint(), 2)));
            CompletableFuture<String> waiting = inLoop(() -> call(lane, false, "BLPOP", "key", "0"));
            assertThat(waiting.get()).isEqualTo("+OK");
            assertThat(healths.of(member.endpoint()).fields()).contains("latency_avg_us=0,latency_max_us=0");
        }
    }

    private String stateAfterProbe(ScriptedMember member) throws Exception {
        loop.submit(members::check).get();
        return healths.of(member.endpoint()).state().name();
    }

    @Test
    void aProbeThatFindsAServerWithoutResp3_endsTheEjection() throws Exception {
        try (ScriptedMember member = new ScriptedMember(
                request -> request.startsWith("HELLO") ? "-ERR unknown command 'HELLO'\r\n" : null)) {
            inLoop(() -> members.shared(member.endpoint(), 3));
            MemberHealth health = healths.of(member.endpoint());
            for (int i = 0; i < MemberHealth.EJECTING_FAILURES; i++) {
                health.failed(System.nanoTime(), "of the test");
            }
            await().atMost(WITHIN).until(() -> stateAfterProbe(member).equals("UP"));
        }
    }

    @Test
    void aMemberThatForbidsToReadItsCopies_isWell() throws Exception {
        try (ScriptedMember member = new ScriptedMember(
                request -> request.equals("READONLY") ? "-NOPERM no permission\r\n" : null)) {
            for (int i = 0; i < MemberHealth.EJECTING_FAILURES; i++) {
                CompletableFuture<String> read = inLoop(
                        () -> call(members.sharedForCopies(member.endpoint(), 2)[0], true, "GET", "key"));
                assertThat(read.get()).isEqualTo("UNREACHABLE");
            }
            assertThat(healths.of(member.endpoint()).fields()).contains("state=up", "failures=0");
        }
    }

    @Test
    void idleLanesToAMember_giveWayToLanesToAnother() throws Exception {
        try (ScriptedMember first = new ScriptedMember(_ -> null);
                ScriptedMember second = new ScriptedMember(_ -> null)) {
            List<MemberLane> lanes = new ArrayList<>();
            for (int i = 0; i < MAX_DEDICATED; i++) {
                MemberLane lane = inLoop(() -> Objects.requireNonNull(members.dedicate(first.endpoint(), 2)));
                assertThat(inLoop(() -> call(lane, true, "SET", "key", "value")).get()).isEqualTo("+OK");
                lanes.add(lane);
            }
            assertThat(inLoop(() -> Objects.isNull(members.dedicate(second.endpoint(), 2)))).isTrue();
            loop.submit(() -> lanes.forEach(members::giveBack)).get();
            for (int i = 0; i < MAX_DEDICATED; i++) {
                MemberLane lane = inLoop(() -> Objects.requireNonNull(members.dedicate(second.endpoint(), 2)));
                assertThat(inLoop(() -> call(lane, true, "SET", "key", "value")).get()).isEqualTo("+OK");
            }
            assertThat(inLoop(members::dedicatedCount)).isEqualTo(MAX_DEDICATED);
        }
    }

    /** A new connection would not know what the client has watched. */
    @Test
    void aDedicatedLaneThatLosesItsConnection_hasNoOther() throws Exception {
        try (ScriptedMember member = new ScriptedMember(request -> {
            if (request.equals("GET first")) {
                // Ends the connection.
                throw new InterruptedException();
            }
            return null;
        })) {
            MemberLane lane = inLoop(() -> Objects.requireNonNull(members.dedicate(member.endpoint(), 2)));
            List<String> results = new CopyOnWriteArrayList<>();
            CompletableFuture<String> last = inLoop(() -> call(lane, true, "GET", "first"))
                    .thenCompose(result -> next(results, result, lane, "second"))
                    .thenCompose(result -> next(results, result, lane, "third"));
            assertThat(last.get()).isEqualTo("UNREACHABLE");
            assertThat(results).doesNotContain("+OK").hasSize(2);
            assertThat(inLoop(lane::isBroken)).isTrue();
            assertThat(member.count("GET third")).isZero();
        }
    }

    /** Sends the next request while the failure of the last one is being told. */
    private CompletableFuture<String> next(List<String> results, String result, MemberLane lane, String key) {
        results.add(result);
        // Another event loop has got a reply from the member.
        healths.of(lane.endpoint()).replied();
        return call(lane, true, "GET", key);
    }
}
