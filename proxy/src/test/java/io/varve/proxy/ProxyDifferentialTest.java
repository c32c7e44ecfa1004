package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends random commands to one server and to the proxy over three: the replies are equal. Confined to the test's
 * thread.
 *
 * <p>Between MULTI and EXEC only keys of one slot are drawn, because the proxy refuses others there.
 */
class ProxyDifferentialTest {
    private static final int PIPELINE = 20;

    @ParameterizedTest
    @CsvSource({"2,false", "3,false", "2,true"})
    void replies_equalThoseOfOneServer(int protocol, boolean isCluster) throws Exception {
        int commands = TestBudget.ofInt("varve.proxy.differential.commands", 8_000, 300_000);
        Random random = new Random(TestBudget.seed("varve.proxy.differential.seed"));
        RandomRequests requests = new RandomRequests(random);
        try (TestProxy proxy = isCluster ? TestProxy.overCluster(3) : TestProxy.overServers(3);
                RedisMember reference = RedisMember.start();
                BlockingConnection expected = reference.connect();
                BlockingConnection actual = proxy.connect()) {
            hello(expected, protocol);
            hello(actual, protocol);
            boolean inTransaction = false;
            for (int done = 0; done < commands; done += PIPELINE) {
                List<String[]> batch = new ArrayList<>();
                for (int i = 0; i < PIPELINE; i++) {
                    String[] words = requests.next();
                    if (words[0].equals("MULTI") || words[0].equals("EXEC") || words[0].equals("DISCARD")) {
                        inTransaction = words[0].equals("MULTI");
                    } else if (inTransaction) {
                        words = oneSlot(words);
                    }
                    batch.add(words);
                    expected.send(words);
                    actual.send(words);
                }
                for (String[] words : batch) {
                    Reply wanted = expected.read();
                    assertThat(actual.read()).as(Arrays.toString(words)).isEqualTo(wanted);
                }
            }
        }
    }

    private static void hello(BlockingConnection client, int protocol) throws IOException {
        assertThat(client.call("HELLO", Integer.toString(protocol)).isError()).isFalse();
    }

    /** The command with all keys in one slot; commands about all keys are replaced. */
    private static String[] oneSlot(String[] words) {
        if (words[0].equals("DBSIZE") || words[0].equals("FLUSHALL")) {
            return new String[] {"PING"};
        }
        return Arrays.stream(words).map(word -> word.matches("k\\d+") ? "{tag}" + word : word).toArray(String[]::new);
    }
}
