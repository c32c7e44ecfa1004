package io.varve.proxy.resp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that replies end where they end, however they arrive. Confined to the test's thread. */
class ReplyScannerTest {
    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"+OK\r\n", "-ERR no\r\n", ":-12\r\n", "$-1\r\n", "$0\r\n\r\n", "$5\r\na\r\nbc\r\n",
            "*-1\r\n",
            "*0\r\n", "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(123456789012345678901\r\n",
            "=7\r\ntxt:abc\r\n", "%1\r\n+a\r\n*2\r\n:1\r\n:2\r\n", "~1\r\n+x\r\n", ">2\r\n+a\r\n+b\r\n",
            "|1\r\n+ttl\r\n:5\r\n$1\r\nv\r\n", "!5\r\nERR x\r\n", "*1\r\n*1\r\n*1\r\n*0\r\n"})
    void aReply_endsAtItsLastByte_whereverItIsCut(String reply) {
        String followed = reply + "+NEXT\r\n";
        for (int cut = 0; cut <= reply.length(); cut++) {
            ReplyScanner scanner = new ReplyScanner();
            int end = scanner.scan(bytes(followed), 0, cut);
            if (cut < reply.length()) {
                assertThat(end).as("cut at %d", cut).isEqualTo(-1);
                end = scanner.scan(bytes(followed), cut, followed.length());
            }
            assertThat(end).as("cut at %d", cut).isEqualTo(reply.length());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x\r\n", "\r\n", "$\r\n", "$a\r\n", "$1x\r\n", "*--1\r\n", "$9999999999999999999\r\n",
            "*9999999999\r\n", "HTTP/1.1 200\r\n"})
    void otherBytes_areRefused(String bytes) {
        ReplyScanner scanner = new ReplyScanner();
        assertThatThrownBy(() -> scanner.scan(bytes(bytes), 0, bytes.length()))
                .isInstanceOf(MalformedReplyException.class);
    }

    @Test
    void randomReplies_inRandomPieces_areCutAndJoined() {
        Random random = new Random(TestBudget.seed("varve.proxy.replies.seed"));
        int rounds = TestBudget.ofInt("varve.proxy.replies", 2_000, 100_000);
        for (int round = 0; round < rounds; round++) {
            List<String> sent = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                sent.add(reply(random, 3));
            }
            String all = String.join("", sent);
            List<String> received = new ArrayList<>();
            ReplyAssembler assembler = new ReplyAssembler(UnpooledByteBufAllocator.DEFAULT, 1 << 20);
            for (int at = 0; at < all.length();) {
                int end = Math.min(all.length(), at + 1 + random.nextInt(40));
                ByteBuf piece = bytes(all.substring(at, end));
                assembler.receive(piece, reply -> {
                    received.add(reply.toString(StandardCharsets.ISO_8859_1));
                    reply.release();
                });
                at = end;
            }
            assertThat(received).isEqualTo(sent);
        }
    }

    private static String reply(Random random, int depth) {
        int kind = random.nextInt(depth == 0 ? 4 : 6);
        return switch (kind) {
            case 0 -> "+text" + random.nextInt(10) + "\r\n";
            case 1 -> ":" + random.nextInt() + "\r\n";
            case 2 -> "$-1\r\n";
            case 3 -> {
                String value = "v\r\n".repeat(random.nextInt(10));
                yield "$" + value.length() + "\r\n" + value + "\r\n";
            }
            default -> {
                int elements = random.nextInt(4);
                StringBuilder text = new StringBuilder((kind == 4 ? "*" : "%") + elements + "\r\n");
                for (int i = kind == 4 ? elements : 2 * elements; i > 0; i--) {
                    text.append(reply(random, depth - 1));
                }
                yield text.toString();
            }
        };
    }

    @Test
    void anOverlongReply_isRefused() {
        ReplyAssembler assembler = new ReplyAssembler(UnpooledByteBufAllocator.DEFAULT, 10);
        assertThatThrownBy(() -> assembler.receive(bytes("$100\r\n01234567890"), ByteBuf::release))
                .isInstanceOf(MalformedReplyException.class);
        assembler.close();
    }

    @Test
    void replyTrees_andElements_areRead() {
        ByteBuf bytes = bytes("*3\r\n$1\r\na\r\n$-1\r\n*2\r\n:7\r\n_\r\n");
        Reply reply = Reply.of(bytes);
        assertThat(reply.elements().get(0).text()).isEqualTo("a");
        assertThat(reply.elements().get(1).text()).isNull();
        assertThat(reply.elements().get(2).elements().get(0).integer()).isEqualTo(7);
        assertThat(Reply.elementsOf(bytes)).extracting(each -> each.toString(StandardCharsets.ISO_8859_1))
                .containsExactly("$1\r\na\r\n", "$-1\r\n", "*2\r\n:7\r\n_\r\n");
    }
}
