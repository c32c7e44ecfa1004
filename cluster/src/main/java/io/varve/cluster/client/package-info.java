/** What a member, the proxy and the command line use to speak with the controllers. */
@NullMarked
package io.varve.cluster.client;

import org.jspecify.annotations.NullMarked;
