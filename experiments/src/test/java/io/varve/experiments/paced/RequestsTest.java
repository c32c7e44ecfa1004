package io.varve.experiments.paced;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.paced.Mix.Command;
import io.varve.experiments.plan.ValueSizes;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the generator's requests and its parsing of replies. Confined to the test's thread. */
final class RequestsTest {
    private static final String MIX = "GET 40 NEW 42 EXPIRING 5 OVERWRITE 4 DEL 3 HSET 3 HGET 3";

    private static PacedSettings settings(long seed) {
        return new PacedSettings("127.0.0.1", 7000, 50, 20_000, 2, 10, seed, 1000, MIX, new ValueSizes(50, 1500), 100,
                10, new ValueSizes(5, 30), Path.of("a folder"));
    }

    private static List<String> requests(long seed, int connection, int count) {
        Requests requests = new Requests(settings(seed), Mix.parse(MIX), connection);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.next();
            texts.add(requests.text());
        }
        return texts;
    }

    /** A request's words, if it is well-formed. */
    private static List<String> words(String request) {
        List<String> words = new ArrayList<>();
        int at = request.indexOf("\r\n") + 2;
        int count = Integer.parseInt(request.substring(1, at - 2));
        for (int i = 0; i < count; i++) {
            int line = request.indexOf("\r\n", at);
            assertThat(request.charAt(at)).isEqualTo('$');
            int length = Integer.parseInt(request.substring(at + 1, line));
            words.add(request.substring(line + 2, line + 2 + length));
            at = line + 2 + length;
            assertThat(request.substring(at, at + 2)).isEqualTo("\r\n");
            at += 2;
        }
        assertThat(at).isEqualTo(request.length());
        return words;
    }

    @Test
    void aSeedAndAConnectionSendTheSameToEveryServer() {
        assertThat(requests(1, 7, 500)).isEqualTo(requests(1, 7, 500)).isNotEqualTo(requests(1, 8, 500))
                .isNotEqualTo(requests(2, 7, 500));
    }

    @Test
    void everyRequestIsWellFormedAndTheMixIsKept() {
        Requests requests = new Requests(settings(3), Mix.parse(MIX), 0);
        Map<Command, Integer> counts = new EnumMap<>(Command.class);
        for (int i = 0; i < 20_000; i++) {
            Command command = requests.next();
            counts.merge(command, 1, Integer::sum);
            List<String> words = words(requests.text());
            assertThat(words.getFirst()).isEqualTo(switch (command) {
                case NEW, EXPIRING, OVERWRITE -> "SET";
                default -> command.name();
            });
            if (command == Command.EXPIRING) {
                assertThat(words.get(3)).isEqualTo("EX");
                assertThat(Integer.parseInt(words.get(4))).isBetween(5, 30);
            }
        }
        assertThat(counts.get(Command.NEW)).isBetween(8100, 8700);
        assertThat(counts.get(Command.GET)).isBetween(7700, 8300);
        assertThat(counts.get(Command.DEL)).isBetween(480, 720);
    }

    @Test
    void newKeysNeverWereOnAnyConnection() {
        Set<String> keys = new HashSet<>();
        int added = 0;
        for (int connection = 0; connection < 50; connection++) {
            Requests requests = new Requests(settings(5), Mix.parse(MIX), connection);
            for (int i = 0; i < 200; i++) {
                if (requests.next() == Command.NEW) {
                    added++;
                    String key = words(requests.text()).get(1);
                    assertThat(Long.parseLong(key.substring(1))).isGreaterThanOrEqualTo(1000);
                    keys.add(key);
                }
            }
        }
        assertThat(keys).hasSize(added);
    }

    @Test
    void aMixIsAHundred() {
        for (String wrong : List.of("GET 60 NEW 30", "GET 60 NEW 41", "GET 100 NEW", "LPUSH 100", "")) {
            assertThatThrownBy(() -> Mix.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void settingsTravelAsWords() {
        PacedSettings settings = settings(9);
        assertThat(PacedSettings.parse(settings.words())).isEqualTo(settings);
        assertThatThrownBy(() -> PacedSettings.parse(List.of("host=a"))).hasMessageContaining("port is missing");
        assertThatThrownBy(() -> PacedSettings.parse(List.of("host"))).hasMessageContaining("NAME=VALUE");
    }

    private static int reply(String text) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(256);
        in.put(text.getBytes(StandardCharsets.US_ASCII));
        return Reply.of(in);
    }

    @Test
    void replyIsCompleteAtItsLastByte() throws IOException {
        for (String whole : List.of("+OK\r\n", ":12\r\n", "$5\r\nab\r\nc\r\n", "$0\r\n\r\n")) {
            for (int cut = 0; cut < whole.length(); cut++) {
                assertThat(reply(whole.substring(0, cut))).as("%s cut at %d", whole, cut).isEqualTo(Reply.PARTIAL);
            }
            assertThat(reply(whole)).isEqualTo(Reply.OK);
        }
        assertThat(reply("$-1\r\n")).isEqualTo(Reply.NONE);
        assertThat(reply("-OOM command not allowed\r\n")).isEqualTo(Reply.ERROR);
    }

    @Test
    void severalRepliesAreAFault() {
        for (String wrong : List.of("+OK\r\n+OK\r\n", "*0\r\n", "$1\r\na\r\n+", "hello\r\n")) {
            assertThatThrownBy(() -> reply(wrong)).as(wrong).isInstanceOf(IOException.class);
        }
    }
}
