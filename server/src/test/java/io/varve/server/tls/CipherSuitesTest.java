package io.varve.server.tls;

import java.util.List;

import io.varve.server.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Names of cipher suites. Confined to the test's thread. */
class CipherSuitesTest {
    private static final List<String> SUPPORTED = List.of("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
            "TLS_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_EMPTY_RENEGOTIATION_INFO_SCSV");

    @ParameterizedTest
    @CsvSource({"ECDHE-RSA-AES256-GCM-SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "ECDHE-ECDSA-CHACHA20-POLY1305,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "DHE-RSA-AES128-SHA256,TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
            "ECDHE-RSA-AES256-SHA,TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
            "AES128-GCM-SHA256,TLS_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"})
    void namesOfOpenSsl(String name, String standard) {
        assertThat(CipherSuites.standardName(name)).isEqualTo(standard);
        assertThat(CipherSuites.ofTls12(name, SUPPORTED)).containsExactly(standard);
    }

    @Test
    void listsKeepTheirOrderAndExclusions() {
        assertThat(CipherSuites.ofTls12("", SUPPORTED)).hasSize(5);
        assertThat(CipherSuites.ofTls12("DEFAULT:!aNULL:!kRSA:!SHA1:@STRENGTH", SUPPORTED)).containsExactly(
                "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256");
        assertThat(CipherSuites.ofTls12("DHE-RSA-AES128-SHA256, ECDHE-RSA-AES256-GCM-SHA384", SUPPORTED))
                .containsExactly("TLS_DHE_RSA_WITH_AES_128_CBC_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
        assertThat(CipherSuites.ofTls12("HIGH:!DHE-RSA-AES128-SHA256:!AES256:!MEDIUM", SUPPORTED)).containsExactly(
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256");
        assertThat(CipherSuites.ofTls13("TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384", SUPPORTED))
                .containsExactly("TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384");
        assertThat(CipherSuites.ofTls13("", SUPPORTED)).hasSize(2);
    }

    @Test
    void unknownCipherSuitesAreReported() {
        for (String list : List.of("nosuch", "DEFAULT:!nosuch", "TLS_AES_256_GCM_SHA384",
                "DEFAULT:!kRSA:-ECDHE:-DHE")) {
            assertThatThrownBy(() -> CipherSuites.ofTls12(list, SUPPORTED)).as(list).isInstanceOf(ConfigException.class)
                    .hasMessageStartingWith("tls-ciphers " + list);
        }
        assertThatThrownBy(() -> CipherSuites.ofTls13("ECDHE-RSA-AES256-GCM-SHA384", SUPPORTED))
                .isInstanceOf(ConfigException.class).hasMessageStartingWith("tls-ciphersuites ECDHE");
    }
}
