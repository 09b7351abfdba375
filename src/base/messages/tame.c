#include "base/messages/tame.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"

bool ns_tame_commands(const char *text, size_t length)
{
    NS_CHECK(text && length);
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 32 || c[0] == 127)
        return c[0] != '\t' && c[0] != '\n';
    if (length >= 2 && c[0] == 0xC2)
        return c[1] >= 0x80 && c[1] <= 0x9F;
    return length >= 3 && c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) ||
            (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

void ns_tame_text(char *text)
{
    NS_CHECK(text);
    for (size_t left = strlen(text); left;) {
        const size_t whole = ns_text_character(text, left), n = whole ? whole : 1;
        if (!whole || ns_tame_commands(text, left))
            memset(text, '?', n);
        text += n;
        left -= n;
    }
}
