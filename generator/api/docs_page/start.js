'use strict';

SwaggerUIBundle({
    url: '/api/v2/openapi.json',
    dom_id: '#api',
    deepLinking: true,
    // It would show every operation to another host, which is asked whether the document is valid.
    validatorUrl: null,
});
